import { z } from 'zod';
import { parseSince } from '#shared/clock.ts';

/**
 * A whole decimal number in a query string, `fallback` when it is absent; no sign, blanks, exponent
 * or fraction.
 */
export function queryInteger({
  min,
  max,
  fallback,
}: {
  min: number;
  max: number;
  fallback: number;
}) {
  const error = `must be a whole number from ${min} to ${max}`;
  const number = z.int32({ error }).min(min, error).max(max, error);
  return z
    .preprocess(
      (given) => (typeof given === 'string' && /^\d{1,10}$/.test(given) ? Number(given) : given),
      number.meta({ format: 'int32', default: fallback }),
    )
    .default(fallback);
}

/** An instant in a query string, read as milliseconds: a date (UTC), or a date-time with a zone. */
export const sinceParameter = z
  .string('must be given once')
  .max(64, 'is too long')
  .transform((text, context) => {
    const since = parseSince(text);
    if (since !== undefined) return since;
    context.addIssue({
      code: 'custom',
      message:
        'must be a date (2026-11-21) or an RFC 3339 date-time with a zone (2026-11-21T08:00:00Z)',
    });
    return z.NEVER;
  });

const idempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 visible ASCII characters')
  .exactOptional();

/** Of a `POST` that is done once per key. */
export const idempotencyHeader = z.object({
  'Idempotency-Key': idempotencyKey.describe(
    'A repeat with the same key within 24 hours gets the first answer.',
  ),
});

/** The same where the first answer shows an API key. */
export const secretIdempotencyHeader = z.object({
  'Idempotency-Key': idempotencyKey.describe(
    'A repeat with the same key within 24 hours makes nothing and gets 409 `idempotency-replayed-secret`.',
  ),
});

const fieldProblemOut = z
  .object({
    pointer: z.string().optional().describe('JSON Pointer into the body, as a fragment.'),
    parameter: z.string().optional().describe('Name of the path or query parameter.'),
    header: z.string().optional().describe('Name of the header.'),
    code: z.string(),
    detail: z.string(),
  })
  .meta({ id: 'FieldProblem', description: 'One wrong part of the request.' });

/** The body of every error (RFC 9457). */
export const problemOut = z
  .looseObject({
    type: z.string().meta({ format: 'uri', description: 'Leads to a page of help.' }),
    title: z.string(),
    status: z.int(),
    detail: z.string().optional(),
    instance: z.string().meta({ format: 'uri', description: '`urn:uuid:` and the request id.' }),
    code: z.string().describe('Stable; decide by it.'),
    errors: z.array(fieldProblemOut).optional(),
    current: z.string().optional().describe('The state that stands in the way.'),
    consumerId: z.string().optional().describe('Whose key the first call made.'),
    keyId: z.string().optional().describe('The public part of that key.'),
    allowed: z.array(z.string()).optional().describe('The steps that are possible in that state.'),
  })
  .meta({ id: 'Problem', description: 'Problem details (RFC 9457).' });
