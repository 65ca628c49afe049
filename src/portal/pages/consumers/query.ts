import { z } from 'zod';
import { type ConsumerFilter, standings } from '#access/consumers/find-consumers.ts';
import { cursorParameter, oneOfFilter, textFilter, withQuery } from '../../address.ts';

export const CONSUMERS_PATH = '/portal/consumers';

/** The address of the list: what a form leaves empty is no filter. */
export const consumersQuery = z.strictObject({
  q: textFilter(),
  state: oneOfFilter(standings),
  expires: z
    .enum(['', '14', '90'], 'must be 14 or 90 days')
    .transform((value) => value || undefined)
    .optional(),
  cursor: cursorParameter,
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
  return withQuery(CONSUMERS_PATH, query);
}

/** The page of one consumer, or one below it. */
export function consumerPath(id: string, ...below: string[]): string {
  return [CONSUMERS_PATH, id, ...below].join('/');
}
