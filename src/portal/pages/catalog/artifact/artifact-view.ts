import type { Member, VersionRecord } from '#catalog/version/artifact.ts';
import type { VersionDiff } from '#catalog/diff/diff-versions.ts';
import type { Lister } from '#catalog/artifact-store.ts';
import type { Page } from '#catalog/version/read-catalog.ts';
import type { VersionView } from '#catalog/version/version-view.ts';
import { foldId } from '#catalog/version/artifact.ts';
import type { AuditEntry } from '#shared/audit.ts';
import { withQuery } from '../../../address.ts';
import { may } from '../../../person.ts';
import { html } from '../../../html.ts';
import type { Html, HtmlValue } from '../../../html.ts';
import { body, card, facts, list, pair, row, split } from '../../../shell/card.ts';
import { notice } from '../../../shell/notice.ts';
import { badge, code, cut, foreign, link, note } from '../../../shell/parts.ts';
import { codeBlock } from '../../../shell/texts.ts';
import { bytes, count, time } from '../../../shell/times.ts';
import type { Reader } from '../../../shell/times.ts';
import { diffCard } from './diff-card.ts';
import { excerptOf } from './excerpt.ts';
import { lanesCard } from './lanes-card.ts';
import { listersCard } from '../listers/listers-view.ts';
import { artifactPath, catalogPath } from '../query.ts';
import { versionsCard } from './versions-card.ts';
import type { VersionsFacts } from './versions-card.ts';
import { lifecycleBadge } from '../words.ts';

export type ArtifactFacts = Omit<VersionsFacts, 'id'> & {
  /** The version that the page is about. */
  shown: VersionView;
  /** The first of those that list the artifact. */
  listers: Page<Lister>;
  /** Of two versions that were chosen. */
  diff?: VersionDiff | undefined;
  /** The last changes, newest first. */
  entries: readonly AuditEntry[];
};

const MEMBERS_SHOWN = 20;
const FINDINGS_SHOWN = 30;
const DESCRIPTION_CHARACTERS = 1_000;

/** Which version counts, what is about to end, and what the shown version says. */
export function artifactView(given: ArtifactFacts, reader: Reader): Html {
  const { shown, versions, defaultVersion } = given;
  const { record } = shown;
  const main = html`${versionsCard({ ...given, id: record.id }, reader)}
  ${lanesCard(versions, defaultVersion, reader)}`;
  const beside = html`${aboutCard(shown, reader)}
  ${record.findings.length > 0 && findingsCard(record)} ${membersCard(shown)}
  ${listersCard(record.id, given.listers)}`;
  return html`${endNotice(shown, reader)}${split(main, beside)}
  ${diffCard({ id: record.id, versions, diff: given.diff })}
  ${pair(specCard(shown), auditCard(given, reader))}`;
}

function endNotice({ record, successor }: VersionView, reader: Reader): Html | undefined {
  const { id, version, lifecycle, sunsetAt } = record;
  if (lifecycle !== 'DEPRECATED') return undefined;
  const end = sunsetAt === undefined ? 'without a sunset' : html`until ${time(sunsetAt, reader)}`;
  const next =
    successor === undefined
      ? 'No other version takes its place yet.'
      : html`Its successor is
        ${link({ href: artifactPath(id, { version: successor }), text: code(successor) })}.`;
  return notice({
    state: 'warn',
    id: 'h-end',
    heading: html`${version} is deprecated, ${end}`,
    text: next,
  });
}

function aboutCard({ record, specText }: VersionView, reader: Reader): Html {
  const { description, version, owner, groupPath, source, projectId, lifecycle } = record;
  const counts = Object.entries(record.counts ?? {});
  const numbers = counts.map(([name, n]) => `${count(n)} ${cut(name, 64)}`);
  return card(
    { id: 'h-about', heading: html`About ${code(version)}` },
    body(
      description !== undefined && html`<p>${foreign(description, DESCRIPTION_CHARACTERS)}</p>`,
      facts([
        { term: 'State', value: lifecycleBadge(lifecycle) },
        { term: 'Owner', value: foreign(owner) },
        when(groupPath, 'Group', (path) =>
          link({ href: catalogPath({ groupPath: path }), text: code(cut(path)) }),
        ),
        when(projectId, 'Project', (project) => foreign(project)),
        { term: 'Source', value: source },
        when(specText, 'Spec', (text) => `${bytes(Buffer.byteLength(text))} as JSON`),
        when(record.counts, 'Counts', () => numbers.join(', ')),
        { term: 'Changed', value: time(record.updatedAt, reader) },
      ]),
    ),
  );
}

function when<T>(value: T | undefined, term: string, toValue: (value: T) => HtmlValue) {
  return value === undefined ? undefined : { term, value: toValue(value) };
}

function findingsCard({ version, lifecycle, findings }: VersionRecord): Html {
  const rest = findings.length - FINDINGS_SHOWN;
  const isDraft = lifecycle === 'DRAFT';
  return card(
    { id: 'h-findings', heading: html`Findings of ${code(version)}` },
    body(
      isDraft && html`<p>${badge('warn', 'May stop it from being published')}</p>`,
      findingsList(findings),
      rest > 0 && note(`${count(rest)} more.`),
    ),
  );
}

/** What validation says, place by place. */
export function findingsList(findings: VersionRecord['findings']): Html {
  return list(
    ...findings
      .slice(0, FINDINGS_SHOWN)
      .map(({ pointer, detail }) => html`${foreign(detail)}${note(code(cut(pointer, 120)))}`),
  );
}

function membersCard({ record, members, counts }: VersionView): Html | undefined {
  if (members === undefined || members.length === 0) return undefined;
  const total = counts['members'] ?? members.length;
  const rest = total - Math.min(members.length, MEMBERS_SHOWN);
  const inGroup = record.groupPath !== undefined && record.members === undefined;
  return card(
    { id: 'h-members', heading: 'Members' },
    body(
      list(...members.slice(0, MEMBERS_SHOWN).map(memberItem)),
      rest > 0 && note(`${count(rest)} more.`),
      inGroup &&
        row(link({ href: catalogPath({ groupPath: record.groupPath }), text: 'Show the group' })),
    ),
  );
}

function memberItem({ id, type, title, lifecycle }: Member): Html {
  return html`${link({ href: artifactPath(id), text: foreign(title, 80) })} ${type}
  ${lifecycle !== 'PUBLISHED' && lifecycleBadge(lifecycle)}`;
}

function specCard({ record, specText }: VersionView): Html {
  const { id, version } = record;
  const names = { id: 'h-spec', heading: 'Spec' };
  if (specText === undefined) return card(names, body(html`<p class="note">None.</p>`));
  const { text, isCut } = excerptOf(specText);
  const download = link({
    href: withQuery(`${artifactPath(id)}/spec`, { version }),
    text: 'Download JSON',
    more: `of ${version}`,
    look: 'small',
    download: true,
  });
  return card(
    { ...names, aside: download },
    body(
      codeBlock(text, `${isCut ? 'Start of the spec' : 'Spec'} of ${version}`),
      isCut && note('The start of ', code(version), '. The download has all of it.'),
    ),
  );
}

const DONE: Readonly<Record<string, string>> = {
  'artifact.create': 'created',
  'artifact.replace': 'replaced',
  'artifact.edit': 'edited',
  'artifact.delete': 'deleted',
  'artifact.publish': 'published',
  'artifact.deprecate': 'deprecated',
  'artifact.reinstate': 'reinstated',
  'artifact.retire': 'retired',
  'artifact.set-default': 'made the default',
  'artifact.unset-default': 'no longer set as the default',
};

function auditCard({ shown, entries, person }: ArtifactFacts, reader: Reader): Html {
  const { workspaceId, id } = shown.record;
  const on = encodeURIComponent(`artifact/${workspaceId}/${foldId(id)}`);
  const all = may(person, 'trackport:admin') && {
    aside: link({ href: `/portal/audit?on=${on}`, text: 'All changes' }),
  };
  const lines = entries.map(({ at, action, actor, changes }) => {
    const version = changes?.['version'];
    const what = `${typeof version === 'string' ? `${version} ` : ''}${DONE[action] ?? action}`;
    return {
      term: time(at, reader, 'minute'),
      value: html`${what} by ${foreign(actor.subject, 60)}`,
    };
  });
  return card({ id: 'h-audit', heading: 'Audit', ...all }, body(facts(lines)));
}
