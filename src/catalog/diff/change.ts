import { escapePointer, isRawNumber } from '#shared/text/json.ts';

/** What a change means for whoever relies on the older version; `unclassified` where that is not certain. */
export const impacts = ['breaking', 'compatible', 'unclassified'] as const;
export type Impact = (typeof impacts)[number];

export const changeKinds = ['added', 'removed', 'changed'] as const;

/** One difference between two versions. */
export type Change = {
  /** A JSON pointer: `/owner`, `/spec/paths/~1leads/get`. */
  path: string;
  kind: (typeof changeKinds)[number];
  impact: Impact;
  /** In words, such as `from 500 to 200`; at most 200 characters. */
  text: string;
};

/** A difference as it was found, before anybody says what it means. */
export type Difference = {
  at: readonly string[];
  kind: Change['kind'];
  before?: unknown;
  after?: unknown;
};

/** More changes than this are not listed. */
export const CHANGES_MAX = 1000;

export type Changes = { changes: Change[]; truncated: boolean };

const ORDER: readonly Impact[] = ['breaking', 'unclassified', 'compatible'];

/** Breaking ones first, at most 1,000; `below` is what their paths start with. */
export function orderChanges(found: Iterable<Change>, below = ''): Changes {
  const byImpact: Record<Impact, Change[]> = { breaking: [], unclassified: [], compatible: [] };
  let total = 0;
  for (const change of found) {
    total += 1;
    if (byImpact[change.impact].length < CHANGES_MAX)
      byImpact[change.impact].push({ ...change, path: `${below}${change.path}` });
  }
  const changes = ORDER.flatMap((impact) => byImpact[impact]).slice(0, CHANGES_MAX);
  return { changes, truncated: total > changes.length };
}

/** A difference as a change. */
export function toChange(difference: Difference, impact: Impact): Change {
  const { at, kind } = difference;
  return { path: pointerOf(at), kind, impact, text: textOf(difference) };
}

export function pointerOf(at: readonly string[]): string {
  return at.map((part) => `/${escapePointer(part)}`).join('');
}

const VALUE_CHARACTERS_MAX = 80;

export function textOf({ kind, before, after }: Omit<Difference, 'at'>): string {
  if (kind === 'changed') return `from ${shown(before)} to ${shown(after)}`;
  const value = kind === 'added' ? after : before;
  return typeof value === 'object' && value !== null ? kind : `${kind}: ${shown(value)}`;
}

/** Containers are named, not shown: they have changes of their own. */
function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null && !isRawNumber(value)) return 'an object';
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length <= VALUE_CHARACTERS_MAX
    ? text
    : `${text.slice(0, VALUE_CHARACTERS_MAX).toWellFormed()}…`;
}
