import { z } from 'zod';
import { textFilter, withQuery } from '../../address.ts';

export const PARTNERS_PATH = '/portal/partners';

const PARTNER_ID_CHARACTERS_MAX = 63;

/** The address of the page: which partner it is to show, or how many stand before it. */
export const partnersQuery = z.strictObject({
  id: textFilter(PARTNER_ID_CHARACTERS_MAX),
  start: z
    .string()
    .regex(/^[0-9]{1,4}$/, 'must be a number')
    .optional()
    .transform((digits) => Number(digits ?? 0)),
});

/** The place of one partner on the page that shows it. */
export function partnerPath(id: string): string {
  return `${withQuery(PARTNERS_PATH, { id })}#${partnerAnchor(id)}`;
}

export function partnerAnchor(id: string): string {
  return `p-${id}`;
}
