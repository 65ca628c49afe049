/**
 * Attention asked of a person: `bad` now, `warn` soon, `odd` of somebody else, `wait` perhaps later, and nothing
 * where it is `ok` or settled (`mute`). Colours and shapes of every interface follow from it.
 */
export type Urgency = 'bad' | 'warn' | 'odd' | 'wait' | 'ok' | 'mute';

/** One way in which something ends or stands. Every interface takes its words from here. Plain text without markup. */
export type OutcomeEntry = {
  urgency: Urgency;
  /** In a few words, as a heading or beside a value. */
  title: string;
  meaning: string;
  /** For whoever it concerns. */
  next: string;
};

/** A state in a word. */
export type Standing = Pick<OutcomeEntry, 'urgency' | 'title'>;

/** Codes of a table, in its order. */
export function codesOf<Code extends string>(table: Readonly<Record<Code, unknown>>) {
  return Object.keys(table) as [Code, ...Code[]];
}

const URGENCIES: readonly Urgency[] = ['bad', 'warn', 'odd', 'wait', 'ok', 'mute'];

/** Codes of a table, from what asks most of a person to what is over. */
export function byUrgency<Code extends string>(
  table: Readonly<Record<Code, { urgency: Urgency }>>,
): Code[] {
  const rank = (code: Code): number => URGENCIES.indexOf(table[code].urgency);
  return codesOf(table).toSorted((left, right) => rank(left) - rank(right));
}

/** A text that stands within sentences, as one of its own. */
export const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** A title within a sentence. */
export const decapitalize = (title: string): string =>
  title.charAt(0).toLowerCase() + title.slice(1);

/** The entry of a code that may be none of ours, such as one that a later version has stored. */
export function entryOf<Entry>(
  table: Readonly<Record<string, Entry>>,
  code: string,
): Entry | undefined {
  return Object.hasOwn(table, code) ? table[code] : undefined;
}
