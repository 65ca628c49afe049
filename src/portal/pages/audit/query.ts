import { z } from 'zod';
import type { AuditFilter } from '#access/audit/audit-reader.ts';
import { auditActions } from '#shared/audit.ts';
import { DAY } from '#shared/clock.ts';

const TEXT_CHARACTERS_MAX = 512;

const text = z
  .string('must be given once')
  .max(TEXT_CHARACTERS_MAX, `must have at most ${TEXT_CHARACTERS_MAX} characters`)
  .trim()
  .transform((value) => value || undefined)
  .optional();

const day = z
  .union([z.literal(''), z.iso.date('must be a day, such as 2026-11-21')])
  .transform((value) => value || undefined)
  .optional();

/** The address of the page: what a form leaves empty is no filter. */
export const auditQuery = z.strictObject({
  who: text,
  what: z
    .union([z.literal(''), z.enum(auditActions, 'must be one of the list')])
    .transform((value) => value || undefined)
    .optional(),
  on: text,
  from: day,
  to: day,
  cursor: text,
});

export type AuditQuery = z.output<typeof auditQuery>;

/** Days are UTC; `to` is inclusive. */
export function toFilter({ who, what, on, from, to }: AuditQuery): AuditFilter {
  return {
    ...(who !== undefined && { actor: who }),
    ...(what !== undefined && { action: what }),
    ...(on !== undefined && { subject: on }),
    ...(from !== undefined && { since: Date.parse(from) }),
    ...(to !== undefined && { before: Date.parse(to) + DAY }),
  };
}

/** The address with these filters; undefined ones are left out. */
export function auditPath(path: string, query: AuditQuery): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => !!entry[1]);
  const search = new URLSearchParams(given).toString();
  return search === '' ? path : `${path}?${search}`;
}
