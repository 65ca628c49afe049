import { z } from 'zod';
import { LEAD_ID } from '#leads/model/lead-out.ts';
import { parseSince } from '#shared/clock.ts';
import { CURSOR_CHARACTERS_MAX } from '#shared/pagination/page.ts';

const LIMIT_MAX = 100;
const LIMIT_DEFAULT = 50;
/** Beyond any cursor of ours, so that one with something added is reported as altered. */
const ADDED_CHARACTERS_MAX = 1024;

/** Number of items on a page, as a whole decimal number: no sign, blanks, exponent or fraction. */
export function limitUpTo(max: number, byDefault: number) {
  const rule = `must be a whole number from 1 to ${max}`;
  return z
    .preprocess(
      (value) => (typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value),
      z
        .int32({ error: rule })
        .min(1, rule)
        .max(max, rule)
        .meta({ format: 'int32', default: byDefault }),
    )
    .default(byDefault)
    .meta({ description: 'How many items a page holds.' });
}

/** An opaque cursor. */
export const cursorParameter = z
  .string('must be given once')
  .max(CURSOR_CHARACTERS_MAX + ADDED_CHARACTERS_MAX, 'is too long');

/** The two query parameters of every list. */
export const pageParameters = {
  limit: limitUpTo(LIMIT_MAX, LIMIT_DEFAULT),
  cursor: cursorParameter.optional().meta({
    description:
      '`pagination.nextCursor` of the page before. It repeats the filters: those beside it must be the same, or be left out.',
  }),
};

/** The query of a list without filters. */
export const pageQuery = z.strictObject(pageParameters);

/** For `transform`: what `parse` makes of a text, which is refused with `message` where that is nothing. */
export function parsedBy<T>(parse: (text: string) => T | undefined, message: string) {
  return (text: string, context: z.RefinementCtx): T => {
    const value = parse(text);
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  };
}

/** A date, or a date-time with a zone, in openapi.json. */
export const DAY_OR_INSTANT =
  '^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}:\\d{2}(\\.\\d+)?(Z|[+\\-]\\d{2}:\\d{2}))?$';

/** An instant in a query string, read as milliseconds: a date (UTC), or a date-time with a zone. */
export const sinceParameter = z
  .string('must be given once')
  .max(64, 'is too long')
  .meta({ pattern: DAY_OR_INSTANT })
  .transform(
    parsedBy(
      parseSince,
      'must be a date (2026-11-21) or an RFC 3339 date-time with a zone (2026-11-21T08:00:00Z)',
    ),
  );

const idempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 visible ASCII characters')
  .optional();

/** Of a `POST` that is done once per key. */
export const idempotencyHeader = z.object({
  'Idempotency-Key': idempotencyKey.describe(
    'A repeat with the same key within 24 hours gets the first answer.',
  ),
});

/** The number of a lead in a path. */
export const leadParams = z.object({
  leadId: z.string().meta({ description: 'The issue number.', pattern: LEAD_ID.source }),
});
