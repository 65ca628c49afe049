/** Cards of an artifact: its versions with what can be done about each, what differs between two, and who reads them. */
import type { Change, Impact } from '#catalog/diff/changes.ts';
import type { VersionDiff } from '#catalog/diff/diff-versions.ts';
import { type Usage, USAGE_DAYS, type VersionReader, type VersionUsage } from '#catalog/usage.ts';
import type { ListedVersion, VersionView } from '#catalog/version/artifact.ts';
import type { AuditEntry } from '#shared/audit.ts';
import type { Standing } from '#shared/outcomes/entry.ts';
import type { Pagination } from '#shared/pagination/page.ts';
import { html, type Html } from '../../html.ts';
import { may, type PortalPerson } from '../../page.ts';
import { artifactPath, consumerPath, versionPath } from '../../paths.ts';
import { body, card, row } from '../../shell/card.ts';
import {
  badge,
  badgeOf,
  code,
  cut,
  foreign,
  link,
  note,
  place,
  sentence,
  tag,
} from '../../shell/elements.ts';
import { actionButton, choicesOf, filters, select } from '../../shell/forms.ts';
import { type Column, pager, table } from '../../shell/list.ts';
import { ago, agoText, count, counted, time, type Viewer } from '../../shell/times.ts';
import { LIFECYCLE_WORDS, sunsetDay } from './catalog-list.ts';
import { VERSION_ACTIONS, type VersionAct } from './version-actions.ts';
import { shares } from '../../shell/pictures.ts';

/** An artifact as its page shows it. */
export type ShownArtifact = {
  person: PortalPerson;
  /** The version that the page is about. */
  shown: VersionView;
  /** Highest first. */
  versions: readonly ListedVersion[];
  /** Numbers of them, by the serials of those that have some. */
  findings: ReadonlyMap<number, number>;
  pagination: Pagination;
  /** Begin of this page of versions; undefined for the highest. */
  cursor?: string;
  /** The version that a read without one returns. */
  defaultVersion?: string;
  /** The default version is one that was set, not computed. */
  isDefaultSet?: boolean;
  /** Readers of each version. */
  usage: Usage;
  /** Of two versions that were chosen. */
  diff?: VersionDiff;
  /** The last changes, newest first. */
  entries: readonly AuditEntry[];
};

/** The versions of an artifact, highest first, with what one may do about each. */
export function versionsCard(given: ShownArtifact, viewer: Viewer): Html {
  const { versions, cursor } = given;
  const { nextCursor } = given.pagination;
  const { id } = given.shown.record;
  const isPaged = cursor !== undefined || nextCursor !== undefined;
  return card(
    { id: 'h-versions', heading: 'Versions' },
    versionTable(given, viewer),
    isPaged &&
      pager({
        summary: `${counted(versions.length, 'version')} on this page, highest first`,
        words: { newest: 'Highest', older: 'Lower' },
        newest: cursor && artifactPath(id),
        older: nextCursor && artifactPath(id, { cursor: nextCursor }),
      }),
  );
}

function versionTable(given: ShownArtifact, viewer: Viewer): Html {
  const { versions, findings, defaultVersion, isDefaultSet = false } = given;
  return table<ListedVersion>({
    caption: 'Versions, highest first',
    rows: versions,
    columns: [
      [
        'Version',
        (record) =>
          html`${link(artifactPath(record.id, { version: record.version }), code(record.version))}
          ${record.version === defaultVersion && tag(isDefaultSet ? 'default, set' : 'default')}`,
      ],
      ['Lifecycle', (record) => state(record, viewer)],
      [
        'Published',
        ({ publishedAt }) =>
          publishedAt === undefined ? 'not yet' : time(publishedAt, viewer, 'day'),
      ],
      ['Sunset', ({ sunsetAt }) => sunsetAt && sunsetDay(sunsetAt, viewer)],
      ['Findings', (one) => findingsLink(one, findings.get(one.serial) ?? 0), 'number'],
      ['Actions', (record) => offeredActions(record, given), 'acts'],
    ],
  });
}

function state({ lifecycle, deprecatedAt }: ListedVersion, viewer: Viewer): Html {
  const since = lifecycle === 'DEPRECATED' ? deprecatedAt : undefined;
  return html`${badgeOf(LIFECYCLE_WORDS[lifecycle])}${since && note('since ', time(since, viewer, 'day'))}`;
}

function findingsLink({ id, version }: ListedVersion, findings: number): Html | string {
  if (findings === 0) return '0';
  const href = `${artifactPath(id, { version })}#h-findings`;
  return link(href, count(findings), { more: `of ${version}` });
}

/** Actions that this person has on a version, as links and buttons. */
function offeredActions(
  { id, version, lifecycle }: ListedVersion,
  { person, defaultVersion, isDefaultSet = false }: ShownArtifact,
): Html {
  const isDefault = version === defaultVersion;
  const offered = Object.entries<VersionAct>(VERSION_ACTIONS).filter(
    ([below, { may: needed, from }]) => {
      if (below === 'default' && isDefault) return false;
      if (below === 'unset-default' && !(isDefault && isDefaultSet)) return false;
      return may(person, needed.scope) && from.includes(lifecycle);
    },
  );
  const acts = offered.map(([below, { text, isPressed = false }]) => {
    const action = versionPath(id, version, below);
    const words = below === 'deprecate' && lifecycle === 'DEPRECATED' ? 'Sunset…' : text;
    return isPressed
      ? actionButton({ action, person, text, look: 'small', more: version })
      : link(action, words, { more: version });
  });
  return row(...acts);
}

const CHANGES_SHOWN = 60;

const IMPACTS: Readonly<Record<Impact, Standing>> = {
  breaking: { urgency: 'bad', title: 'Breaking' },
  unclassified: { urgency: 'wait', title: 'To look at' },
  compatible: { urgency: 'ok', title: 'Compatible' },
};

/** Changes between two versions, breaking changes first. Nothing where there is only one. */
export function diffCard(id: string, given: Compared): Html | undefined {
  const { versions, diff } = given;
  if (versions.length < 2 && !diff) return undefined;
  const names = { id: 'h-changes', heading: 'Changes' };
  return card(names, compareForm(id, given), diff && result(diff));
}

type Compared = Pick<ShownArtifact, 'versions' | 'diff'>;

function compareForm(id: string, { versions, diff }: Compared): Html {
  const names = versions.map(({ version }) => version);
  const field = (name: 'from' | 'to', label: string, value = '') =>
    select({ name, label, value, choices: choicesOf([...new Set([value, ...names])]) });
  return filters({
    action: `${artifactPath(id)}#h-changes`,
    label: 'Compare two versions',
    submit: 'Compare',
    fields: [
      field('from', 'From', diff?.from ?? names[1]),
      field('to', 'To', diff?.to ?? names[0]),
    ],
  });
}

function result({ from, to, changes, truncated }: VersionDiff): Html {
  const rest = changes.length - CHANGES_SHOWN;
  const all = truncated
    ? `more than ${count(changes.length)} changes`
    : counted(changes.length, 'change');
  const what = note(`${all} from ${from} to ${to}`);
  const badges = (Object.keys(IMPACTS) as Impact[]).map((impact) => {
    const n = changes.filter((change) => change.impact === impact).length;
    const { urgency, title } = IMPACTS[impact];
    return n > 0 && html`${badge(urgency, `${count(n)} ${title.toLowerCase()}`, { fill: true })} `;
  });
  return html`<div class="body sub"><p class="row">${badges}${what}</p></div>
    ${changes.length > 0 && changeTable(changes.slice(0, CHANGES_SHOWN), `Changes from ${from} to ${to} by impact`)}
    ${rest > 0 && body(note(`${count(rest)} more.`))}`;
}

function changeTable(changes: readonly Change[], caption: string): Html {
  return table<Change>({
    caption,
    rows: changes,
    columns: [
      ['Impact', ({ impact }) => badgeOf(IMPACTS[impact])],
      ['Where', ({ path }) => place(path)],
      ['What', ({ text }) => sentence(text)],
    ],
  });
}

const VERSIONS_SHOWN = 12;
const READERS_SHOWN = 30;

type ShownReaders = { id: string; usage: Usage; person: PortalPerson };

/** Readers of each version: how often as a picture, and when last as a table. */
export function readersCard(given: ShownReaders, viewer: Viewer): Html {
  const { id, usage } = given;
  const read = usage.items.filter(({ readers }) => readers.length > 0);
  const names = { id: 'h-readers', heading: 'Readers', aside: note(`last ${USAGE_DAYS} days`) };
  if (read.length === 0) {
    const nobody = html`<p>Nobody has read a version by key or token.</p>`;
    return card(names, body(nobody, note('What is looked at in the portal does not count.')));
  }
  const shown = read.slice(0, VERSIONS_SHOWN);
  const rest = read.length - shown.length;
  const most = Math.max(...read.map(readsOf));
  const picture = shares({
    headingId: names.id,
    caption: `Reads of each version; ${rest > 0 ? `${count(rest)} lower ones are in the table` : 'those that nobody read are left out'}.`,
    bars: shown.map((one) => ({
      label: link(artifactPath(id, { version: one.version }), code(one.version)),
      sentence: sentenceOf(one, viewer),
      value: count(readsOf(one)),
      share: readsOf(one) / most,
      state: LIFECYCLE_WORDS[one.lifecycle].urgency,
    })),
  });
  return card(names, picture, readersTable(read, given, viewer));
}

const readsOf = ({ readers }: VersionUsage): number =>
  readers.reduce((sum, { reads }) => sum + reads, 0);

function sentenceOf(usage: VersionUsage, viewer: Viewer): string {
  const { version, lifecycle, readers } = usage;
  const last = Math.max(...readers.map(({ lastReadAt }) => lastReadAt));
  const reads = counted(readsOf(usage), 'read');
  const state = LIFECYCLE_WORDS[lifecycle].title.toLowerCase();
  return `${version}, ${state}: ${reads} by ${counted(readers.length, 'reader')}, the last ${agoText(last, viewer)}.`;
}

type Row = VersionReader & { version: string };

function readersTable(read: readonly VersionUsage[], given: ShownReaders, viewer: Viewer): Html {
  const all = read
    .flatMap(({ version, readers }) => readers.map((reader): Row => ({ ...reader, version })))
    .toSorted((left, right) => right.lastReadAt - left.lastReadAt);
  const columns: Column<Row>[] = [
    ['Reader', (reader) => readerName(reader, given.person)],
    ['Version', ({ version }) => code(version)],
    ['Last read', ({ lastReadAt }) => ago(lastReadAt, viewer)],
    ['Reads', ({ reads }) => count(reads), 'number'],
  ];
  const rows = all.slice(0, READERS_SHOWN);
  const more = given.usage.isTruncated ? 'Many more.' : `${count(all.length - rows.length)} more.`;
  const caption = 'Readers, whoever read last first';
  return html`${table({ caption, columns, rows })} ${all.length > rows.length && body(note(more))}`;
}

/** A consumer by its name for operators, who can look at it; else by its id. */
export function readerName({ kind, id, name }: VersionReader, person: PortalPerson): Html {
  const mayOpen = kind === 'consumer' && may(person, 'trackport:admin');
  const text = name === undefined ? code(cut(id)) : foreign(name, 80);
  return html`${mayOpen ? link(consumerPath(id), text) : text} ${tag(kind)}`;
}
