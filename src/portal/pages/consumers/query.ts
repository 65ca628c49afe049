import { z } from 'zod';
import { standings } from '#access/consumers/find-consumers.ts';
import type { ConsumerFilter } from '#access/consumers/find-consumers.ts';

export const CONSUMERS_PATH = '/portal/consumers';

const TEXT_CHARACTERS_MAX = 512;

const text = z
  .string('must be given once')
  .max(TEXT_CHARACTERS_MAX, `must have at most ${TEXT_CHARACTERS_MAX} characters`)
  .trim()
  .transform((value) => value || undefined)
  .optional();

/** The address of the list: what a form leaves empty is no filter. */
export const consumersQuery = z.strictObject({
  q: text,
  state: z
    .union([z.literal(''), z.enum(standings, 'must be one of the list')])
    .transform((value) => value || undefined)
    .optional(),
  expires: z
    .enum(['', '14', '90'], 'must be 14 or 90 days')
    .transform((value) => value || undefined)
    .optional(),
  cursor: text,
});

export type ConsumersQuery = z.output<typeof consumersQuery>;

export function toFilter({ q, state, expires }: ConsumersQuery): ConsumerFilter {
  return {
    ...(q !== undefined && { text: q }),
    ...(state !== undefined && { standing: state }),
    ...(expires !== undefined && { endsWithinDays: Number(expires) }),
  };
}

/** The list with these filters; undefined ones are left out. */
export function consumersPath(query: ConsumersQuery): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => !!entry[1]);
  const search = new URLSearchParams(given).toString();
  return search === '' ? CONSUMERS_PATH : `${CONSUMERS_PATH}?${search}`;
}

/** The page of one consumer, or one below it. */
export function consumerPath(id: string, ...below: string[]): string {
  return [CONSUMERS_PATH, id, ...below].join('/');
}
