/** What addresses of lists are made of: filters that a form may leave empty, and where a page starts. */
import { z } from 'zod';

const TEXT_CHARACTERS_MAX = 512;
/** A cursor carries the filters, each of them as long as it may be. */
const CURSOR_CHARACTERS_MAX = 6144;

/** Text of at most so many characters, default 512; an empty one is none. */
export const textFilter = (charactersMax = TEXT_CHARACTERS_MAX) =>
  z
    .string('must be given once')
    .max(charactersMax, `must have at most ${charactersMax} characters`)
    .trim()
    .transform((value) => value || undefined)
    .optional();

const inCode = (words: readonly string[]): string => words.map((word) => `\`${word}\``).join(', ');

/** One of these words, or none. */
export const oneOfFilter = <const Words extends readonly string[]>(words: Words) =>
  z
    .union([z.literal(''), z.enum(words)], `must be one of ${inCode(words)}`)
    .transform((value) => value || undefined)
    .optional();

/** A day of the calendar, or none. */
export const dayFilter = z
  .union([z.literal(''), z.iso.date('must be a day, such as 2026-11-21')])
  .transform((value) => value || undefined)
  .optional();

/** Where a page of a list starts. */
export const cursorParameter = textFilter(CURSOR_CHARACTERS_MAX);

/** A path with what is given of a query. */
export function withQuery(
  path: string,
  query: Readonly<Record<string, string | undefined>>,
): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => !!entry[1]);
  const search = new URLSearchParams(given).toString();
  return search === '' ? path : `${path}?${search}`;
}
