/** One artifact: which version counts, what is about to end, what the shown version says. */
import { z } from 'zod';
import { diffVersions } from '#catalog/diff/diff-versions.ts';
import type { Catalog } from '#catalog/index.ts';
import { countFindings, listAudit, listVersions, readSpec } from '#catalog/reading/read-catalog.ts';
import { readUsage } from '#catalog/usage.ts';
import {
  foldId,
  type ListedVersion,
  type Member,
  type VersionRecord,
  type VersionView,
} from '#catalog/version/artifact.ts';
import { auditSubject } from '#catalog/version/read-version.ts';
import { readView } from '#catalog/version/version-view.ts';
import { DAY, MINUTE } from '#shared/clock.ts';
import { cursorFilter, textFilter } from '../../shell/list.ts';
import { html, type Html } from '../../html.ts';
import { may, type PortalPerson } from '../../page.ts';
import {
  artifactPath,
  auditPath,
  CATALOG_PATH,
  NEW_DRAFT_PATH,
  SECTIONS,
  withQuery,
} from '../../paths.ts';
import { page } from '../../routes/page-route.ts';
import { body, card, facts, list, notice, pair, row, split } from '../../shell/card.ts';
import {
  badge,
  badgeOf,
  code,
  codeBlock,
  cut,
  excerptOf,
  foreign,
  link,
  note,
  place,
  sentence,
} from '../../shell/elements.ts';
import { type Lane, lanes } from '../../shell/pictures.ts';
import { bytes, count, time, timeText, type Viewer } from '../../shell/times.ts';
import { groupPathOf, LIFECYCLE_WORDS, sunsetDay } from './catalog-list.ts';
import { diffCard, readersCard, type ShownArtifact, versionsCard } from './artifact-cards.ts';
import { readDefault } from './version-actions.ts';

const params = z.object({ id: z.string() });

const artifactQuery = z.strictObject({
  version: textFilter(),
  cursor: cursorFilter,
  from: textFilter(),
  to: textFilter(),
});

const PAGE_VERSIONS = 25;
const LAST_CHANGES = 6;

/** `/portal/catalog/:id`: one artifact, about one of its versions. */
export const artifactPage = page({
  path: `${CATALOG_PATH}/:id`,
  scope: SECTIONS.catalog.scope,
  params,
  query: artifactQuery,
  show: async ({ catalog }, { person, params: { id }, query, viewer }) => {
    const byDefault = await readDefault(catalog, person, id);
    const defaultVersion = byDefault?.record.version;
    const version = query.version ?? defaultVersion ?? (await highestVersion(catalog, person, id));
    const shown = await readView(catalog.db, person, { id, version, withSpec: true });
    const { items: entries } = await listAudit(catalog, person, { id, limit: LAST_CHANGES });
    const { from, to } = query;
    const isCompared = from !== undefined || to !== undefined;
    const diff = isCompared ? await diffVersions(catalog, person, { id, from, to }) : undefined;
    const mayName = (): boolean => may(person, 'trackport:admin');
    const usage = await readUsage(catalog, person, { id, mayName });
    const { cursor } = query;
    const part = { id, limit: PAGE_VERSIONS, cursor };
    const { items: versions, pagination } = await listVersions(catalog, person, part);
    const isDefaultSet = byDefault?.isSetDefault ?? false;
    const findings = await countFindings(catalog.db, versions);
    const which = { shown, versions, findings, pagination, cursor, defaultVersion, isDefaultSet };
    const body = artifactView({ ...which, diff, person, entries, usage }, viewer);
    return { ...headOf(shown, person, defaultVersion), body };
  },
});

/** The spec of a version. */
export const specFile = page({
  path: `${CATALOG_PATH}/:id/spec`,
  scope: SECTIONS.catalog.scope,
  params,
  query: z.strictObject({ version: z.string() }),
  show: async ({ catalog }, { person, params: { id }, query: { version } }) => {
    const { view, text } = await readSpec(catalog, person, { id, version, format: 'json' });
    const { record } = view;
    const fileName = `${record.id}-${record.version}.json`;
    return { fileName, mediaType: 'application/json', content: text };
  },
});

/** Stands for an artifact of which no version can be read without its name. @throws {artifact-not-found} */
async function highestVersion(catalog: Catalog, person: PortalPerson, id: string) {
  const { items } = await listVersions(catalog, person, { id, limit: 1 });
  return items[0]?.version ?? '';
}

function headOf({ record }: VersionView, person: PortalPerson, defaultVersion: string | undefined) {
  const { id, version, title, type, owner, groupPath, lifecycle } = record;
  const group = groupPath !== undefined && { href: groupPathOf(groupPath), text: groupPath };
  const created = withQuery(NEW_DRAFT_PATH, { id, version });
  return {
    title,
    section: 'catalog',
    crumbs: group ? [group] : [],
    badge: badgeOf(LIFECYCLE_WORDS[lifecycle], { fill: true }),
    meta: [
      code(id),
      type,
      defaultVersion === undefined
        ? 'No default version'
        : html`Default ${link(artifactPath(id, { version: defaultVersion }), code(defaultVersion))}`,
      foreign(owner, 60),
    ],
    ...(may(person, 'catalog:write') && {
      actions: link(created, 'Create version', { look: 'button' }),
    }),
  } as const;
}

const LANES_SHOWN = 12;
const MEMBERS_SHOWN = 20;
const FINDINGS_SHOWN = 30;
const COUNTS_SHOWN = 64;
const DESCRIPTION_CHARACTERS = 1_000;

/** Which version counts, what is about to end, and what the shown version says. */
export function artifactView(given: ShownArtifact, viewer: Viewer): Html {
  const { record } = given.shown;
  // As wide as the page: what one may do about a version stands in one line.
  const all = versionsCard(given, viewer);
  const beside = html`${aboutCard(given, viewer)}
  ${record.findings.length > 0 && findingsCard(record)} ${membersCard(given)}`;
  const readers = readersCard({ id: record.id, ...given }, viewer);
  const main = html`${lanesCard(given, viewer)} ${readers}`;
  return html`${endNotice(given.shown, viewer)}${all} ${split(main, beside)}
  ${diffCard(record.id, given)} ${pair(specCard(given), auditCard(given, viewer))}`;
}

function endNotice({ record, successor }: VersionView, viewer: Viewer): Html | undefined {
  const { id, version, lifecycle, sunsetAt } = record;
  if (lifecycle !== 'DEPRECATED') return undefined;
  const end =
    sunsetAt === undefined ? 'without a sunset' : html`until ${sunsetDay(sunsetAt, viewer)}`;
  const next =
    successor === undefined
      ? 'No other version takes its place yet.'
      : html`Its successor is ${link(artifactPath(id, { version: successor }), code(successor))}.`;
  return notice({
    state: 'warn',
    id: 'h-end',
    heading: html`${version} is deprecated, ${end}`,
    text: next,
  });
}

function aboutCard({ shown }: ShownArtifact, viewer: Viewer): Html {
  const { record, specText } = shown;
  const { description, version, owner, groupPath, source, projectId, lifecycle } = record;
  const counts = Object.entries(record.counts ?? {});
  const numbers = counts.slice(0, COUNTS_SHOWN).map(([name, n]) => `${count(n)} ${cut(name, 64)}`);
  const rest = counts.length - numbers.length;
  const more = rest > 0 ? [`${count(rest)} more`] : [];
  return card(
    { id: 'h-about', heading: html`About ${code(version)}` },
    body(
      description !== undefined && html`<p>${foreign(description, DESCRIPTION_CHARACTERS)}</p>`,
      facts([
        ['State', badgeOf(LIFECYCLE_WORDS[lifecycle])],
        ['Owner', foreign(owner)],
        ['Group', groupPath && link(groupPathOf(groupPath), code(cut(groupPath)))],
        ['Project', projectId && foreign(projectId)],
        ['Source', source],
        ['Spec', specText && `${bytes(Buffer.byteLength(specText))} as JSON`],
        ['Counts', record.counts && [...numbers, ...more].join(', ')],
        ['Changed', time(record.updatedAt, viewer)],
      ]),
    ),
  );
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

/** Findings of validation, place by place. */
export function findingsList(findings: VersionRecord['findings']): Html {
  return list(
    ...findings
      .slice(0, FINDINGS_SHOWN)
      .map(({ pointer, detail }) => html`${sentence(detail)} ${place(pointer)}`),
  );
}

function membersCard({ shown }: ShownArtifact): Html | undefined {
  const { record, members = [], counts } = shown;
  const known = new Set(members.map(({ id }) => foldId(id)));
  const isAll = (counts['members'] ?? members.length) === members.length;
  const unknown = isAll ? (record.members ?? []).filter((id) => !known.has(foldId(id))) : [];
  if (members.length + unknown.length === 0) return undefined;
  const total = counts['members'] ?? members.length;
  const rest = total - Math.min(members.length, MEMBERS_SHOWN);
  const group = record.members === undefined ? record.groupPath : undefined;
  return card(
    { id: 'h-members', heading: 'Members' },
    body(
      members.length > 0 && list(...members.slice(0, MEMBERS_SHOWN).map(memberItem)),
      rest > 0 && note(`${count(rest)} more.`),
      unknown.length > 0 && unknownMembers(unknown),
      group !== undefined && row(link(groupPathOf(group), 'Show the group')),
    ),
  );
}

/** It is no mistake: a member can be created later. */
function unknownMembers(ids: readonly string[]): Html {
  const shown = ids.slice(0, MEMBERS_SHOWN).map((id) => html`${code(cut(id))} `);
  const more = ids.length - shown.length;
  return html`<div>
    <p>${badge('warn', 'Not in the catalog')}${note('so no reader sees it')}</p>
    <p>${shown}${more > 0 && note(`and ${count(more)} more`)}</p>
  </div>`;
}

function memberItem({ id, type, title, lifecycle }: Member): Html {
  return html`${link(artifactPath(id), foreign(title, 80))} ${type}
  ${lifecycle !== 'PUBLISHED' && badgeOf(LIFECYCLE_WORDS[lifecycle])}`;
}

function specCard({ shown }: ShownArtifact): Html {
  const { record, specText } = shown;
  const { id, version } = record;
  const names = { id: 'h-spec', heading: 'Spec' };
  if (specText === undefined) return card(names, body(html`<p class="note">None.</p>`));
  const { text, isCut } = excerptOf(specText);
  const download = link(withQuery(`${artifactPath(id)}/spec`, { version }), 'Download JSON', {
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

function auditCard({ shown, entries, person }: ShownArtifact, viewer: Viewer): Html {
  const { workspaceId, id } = shown.record;
  const all = may(person, SECTIONS.audit.scope) && {
    aside: link(auditPath(auditSubject(workspaceId, id)), 'All changes'),
  };
  const lines = entries.map(({ at, action, actor, changes }) => {
    const version = changes?.['version'];
    const what = `${typeof version === 'string' ? `${version} ` : ''}${DONE[action] ?? action}`;
    const by = html`${what} by ${foreign(actor.subject, 60)}`;
    return [time(at, viewer, 'minute'), by] as const;
  });
  return card({ id: 'h-audit', heading: 'Audit', ...all }, body(facts(lines)));
}

const LABEL_CHARACTERS = 8;

/** Lifetimes of the versions: publication, deprecation and retirement, and what is announced. */
function lanesCard({ defaultVersion, ...given }: ShownArtifact, viewer: Viewer): Html {
  const versions = given.versions.slice(0, LANES_SHOWN);
  const { nowMs } = viewer;
  const fromMs = Math.min(nowMs - MINUTE, ...versions.map(startOf));
  const untilMs = Math.max(nowMs, ...versions.map(({ sunsetAt }) => sunsetAt ?? nowMs));
  // The oldest version reaches over the whole width, however young it is.
  const style = untilMs - fromMs < 2 * DAY ? 'minute' : 'day';
  const day = (ms: number): Html => time(ms, viewer, style);
  const last = style === 'day' ? sunsetDay(untilMs, viewer) : day(untilMs);
  const marks = [day(fromMs), day((fromMs + untilMs) / 2), untilMs > nowMs ? last : 'now'];
  const states = (['DRAFT', 'PUBLISHED', 'DEPRECATED'] as const).map((one) => LIFECYCLE_WORDS[one]);
  return card(
    { id: 'h-life', heading: 'Life of the versions' },
    lanes({
      headingId: 'h-life',
      caption: html`${day(fromMs)} to ${last}. The upright line is now; outlined parts are
      announced.`,
      fromMs,
      untilMs,
      nowMs,
      lanes: versions.map((record) => laneOf(record, defaultVersion, viewer)),
      axis: [...new Map(marks.map((mark) => [String(mark), mark])).values()],
      legend: states.map(({ urgency, title }) => ({ state: urgency, label: title })),
      wideLabels: versions.some(({ version }) => version.length > LABEL_CHARACTERS),
    }),
  );
}

function startOf({ lifecycle, createdAt, publishedAt }: ListedVersion): number {
  return lifecycle === 'DRAFT' ? createdAt : (publishedAt ?? createdAt);
}

function laneOf(record: ListedVersion, defaultVersion: string | undefined, viewer: Viewer): Lane {
  const { version } = record;
  const isDefault = version === defaultVersion && ', the default';
  return {
    label: code(version),
    sentence: `${version}: ${historyOf(record, viewer).join(', ')}${isDefault || ''}.`,
    spans: spansOf(record, viewer.nowMs),
  };
}

/** Nothing changes a RETIRED version any more: it was changed last when it was retired. */
const retiredAt = ({ lifecycle, updatedAt }: ListedVersion): number | undefined =>
  lifecycle === 'RETIRED' ? updatedAt : undefined;

function spansOf(record: ListedVersion, nowMs: number): Lane['spans'] {
  const { lifecycle, deprecatedAt, sunsetAt } = record;
  const fromMs = startOf(record);
  if (lifecycle === 'DRAFT') return [{ state: 'wait', fromMs, untilMs: nowMs }];
  const end = retiredAt(record) ?? nowMs;
  const published = { state: 'ok', fromMs, untilMs: deprecatedAt ?? end } as const;
  if (deprecatedAt === undefined) return [published];
  const deprecated = { state: 'warn', fromMs: deprecatedAt, untilMs: end } as const;
  const isAnnounced = lifecycle === 'DEPRECATED' && sunsetAt !== undefined && sunsetAt > nowMs;
  if (!isAnnounced) return [published, deprecated];
  const rest = { state: 'warn', fromMs: nowMs, untilMs: sunsetAt, announced: true } as const;
  return [published, deprecated, rest];
}

function historyOf(record: ListedVersion, viewer: Viewer): string[] {
  const { createdAt, publishedAt, deprecatedAt, sunsetAt } = record;
  if (publishedAt === undefined) return [`draft since ${timeText(createdAt, viewer, 'day')}`];
  const moments: [string, number | undefined][] = [
    ['published', publishedAt],
    ['deprecated', deprecatedAt],
    ['retired', retiredAt(record)],
  ];
  const history = moments.flatMap(([word, at]) =>
    at === undefined ? [] : [`${word} ${timeText(at, viewer, 'day')}`],
  );
  const isAhead = sunsetAt !== undefined && retiredAt(record) === undefined;
  return isAhead ? [...history, `sunset ${timeText(sunsetAt, viewer, 'day')}`] : history;
}
