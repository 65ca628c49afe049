import type { Change, Impact } from '#catalog/diff/change.ts';
import type { VersionDiff } from '#catalog/diff/diff-versions.ts';
import type { VersionRecord } from '#catalog/version/artifact.ts';
import { html } from '../../../html.ts';
import type { Html } from '../../../html.ts';
import { body, card } from '../../../shell/card.ts';
import { select } from '../../../shell/fields.ts';
import { filters } from '../../../shell/forms.ts';
import { badge, note, place, sentence } from '../../../shell/parts.ts';
import type { State } from '../../../shell/parts.ts';
import { table } from '../../../shell/table.ts';
import { count, counted } from '../../../shell/times.ts';
import { artifactPath } from '../query.ts';

export type DiffFacts = {
  id: string;
  /** Those that one can choose of, highest first. */
  versions: readonly VersionRecord[];
  /** What was compared; undefined before two were chosen. */
  diff?: VersionDiff | undefined;
};

const CHANGES_SHOWN = 60;

const IMPACTS: Readonly<Record<Impact, { state: State; words: string }>> = {
  breaking: { state: 'bad', words: 'Breaking' },
  unclassified: { state: 'wait', words: 'To look at' },
  compatible: { state: 'ok', words: 'Compatible' },
};

/** What changed between two versions, breaking changes first. Nothing where there is only one. */
export function diffCard(given: DiffFacts): Html | undefined {
  const { versions, diff } = given;
  if (versions.length < 2 && !diff) return undefined;
  return card({ id: 'h-changes', heading: 'Changes' }, compareForm(given), diff && result(diff));
}

function compareForm({ id, versions, diff }: DiffFacts): Html {
  const names = versions.map(({ version }) => version);
  const choices = (chosen: string | undefined) =>
    [...new Set([...(chosen === undefined ? [] : [chosen]), ...names])].map((value) => ({
      value,
      label: value,
    }));
  const field = (name: 'from' | 'to', label: string, value: string | undefined) =>
    select({ name, label, value, choices: choices(value) });
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
    const { state, words } = IMPACTS[impact];
    return n > 0 && html`${badge(state, `${count(n)} ${words.toLowerCase()}`, { fill: true })} `;
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
      {
        label: 'Impact',
        cell: ({ impact }) => badge(IMPACTS[impact].state, IMPACTS[impact].words),
      },
      { label: 'Where', cell: ({ path }) => place(path) },
      { label: 'What', cell: ({ text }) => sentence(text) },
    ],
  });
}
