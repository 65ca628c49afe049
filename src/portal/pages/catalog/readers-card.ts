import type { Usage, VersionReader, VersionUsage } from '#catalog/usage/read-usage.ts';
import { USAGE_DAYS } from '#catalog/usage/record-reads.ts';
import { html, type Html } from '../../html.ts';
import { may, type PortalPerson } from '../../page.ts';
import { artifactPath, consumerPath } from '../../paths.ts';
import { body, card } from '../../shell/card.ts';
import { code, cut, foreign, link, note, tag } from '../../shell/elements.ts';
import { type Column, table } from '../../shell/list.ts';
import { shares } from '../../shell/pictures.ts';
import { ago, agoText, count, counted, type Viewer } from '../../shell/times.ts';
import { LIFECYCLE_WORDS } from './lifecycle-words.ts';

const VERSIONS_SHOWN = 12;
const READERS_SHOWN = 30;

export type ShownReaders = { id: string; usage: Usage; person: PortalPerson };

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
