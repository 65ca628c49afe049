/** Where the pages of consumers are, and who may see them. */
import { z } from 'zod';
import type { Consumer } from '#access/consumers/consumer.ts';
import { type ConsumerFilter, consumerStatuses } from '#access/consumers/find-consumers.ts';
import { cursorParameter, oneOfFilter, present, textFilter, withQuery } from '../../address.ts';

export const CONSUMERS_PATH = '/portal/consumers';

export const scope = 'trackport:admin';
export const ofConsumer = { scope, params: z.object({ id: z.string() }) } as const;
export const ofKey = { scope, params: z.object({ id: z.string(), keyId: z.string() }) } as const;

/** The address of the list: what a form leaves empty is no filter. */
export const consumersQuery = z.strictObject({
  q: textFilter(),
  state: oneOfFilter(consumerStatuses),
  expires: z
    .enum(['', '14', '90'], 'must be 14 or 90 days')
    .transform((value) => value || undefined)
    .optional(),
  cursor: cursorParameter,
});

export type ConsumersQuery = z.output<typeof consumersQuery>;

export function toFilter({ q, state, expires }: ConsumersQuery): ConsumerFilter {
  return present({ text: q, status: state, endsWithinDays: expires && Number(expires) });
}

/** The list with these filters; undefined ones are left out. */
export function consumersPath(query: ConsumersQuery): string {
  return withQuery(CONSUMERS_PATH, query);
}

/** The page of one consumer, or one below it. */
export function consumerPath(id: string, ...below: string[]): string {
  return [CONSUMERS_PATH, id, ...below].join('/');
}

/** Where a page below the list, or below one consumer, stands. */
export function placeOf(consumer?: Consumer) {
  const own = consumer && { href: consumerPath(consumer.id), text: consumer.name };
  return { section: 'consumers', crumbs: own ? [own] : [] } as const;
}
