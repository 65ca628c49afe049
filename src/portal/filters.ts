/** Filters of lists, as their addresses have them: what a form leaves empty is none. */
import { z } from 'zod';
import { DAY, MINUTE } from '#shared/clock.ts';
import { CURSOR_CHARACTERS_MAX } from '#shared/pagination/page.ts';

const TEXT_CHARACTERS_MAX = 512;

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

/** A day, or one of its minutes, in UTC, or none. */
export const instantFilter = z
  .union(
    [z.literal(''), z.iso.date(), z.iso.datetime({ local: true, precision: -1 })],
    'must be a day or a minute, such as 2026-11-21 or 2026-11-21T14:02',
  )
  .transform((value) => value || undefined)
  .optional();

/** Start of a page of a list. */
export const cursorFilter = textFilter(CURSOR_CHARACTERS_MAX);

/** Number of rows before the first that is shown. */
export const startParameter = z
  .string()
  .regex(/^[0-9]{1,4}$/, 'must be a number')
  .optional()
  .transform((digits) => Number(digits ?? 0));

/** From one instant of a filter to another, in UTC; what the second names is part of it: a day, or a minute. */
export function spanOf({ from, to }: { from?: string; to?: string }): {
  since?: number;
  before?: number;
} {
  return {
    ...(from !== undefined && { since: Date.parse(toUtc(from)) }),
    ...(to !== undefined && { before: Date.parse(toUtc(to)) + (to.includes('T') ? MINUTE : DAY) }),
  };
}

/** A date alone is one in UTC already. */
function toUtc(text: string): string {
  return text.includes('T') ? `${text}Z` : text;
}
