import { z } from 'zod';
import type { Access } from '#access/index.ts';
import type { Consumer } from '#access/consumers/consumer.ts';
import type { Clock } from '#shared/clock.ts';
import type { PortalPage } from '../../page.ts';
import { type ConsumerFacts, consumerView } from './consumer/consumer-view.ts';
import { consumerPath, CONSUMERS_PATH } from './query.ts';
import type { KnownLabels } from './visibility.ts';
import { standingBadge } from './words.ts';

export type ConsumerPagesDeps = {
  access: Pick<Access, 'consumers' | 'keys' | 'listAudit'>;
  /** The tracker's labels; any failure means that nobody can know them now. */
  readLabels: () => Promise<readonly string[]>;
  /** Calls per minute of a consumer without a limit of its own. */
  defaultLimit: () => number;
  publicUrl: () => string;
  clock: Pick<Clock, 'now'>;
};

const LAST_CHANGES = 5;

export const scope = 'trackport:admin';
export const ofConsumer = { scope, params: z.object({ id: z.string() }) } as const;
export const ofKey = { scope, params: z.object({ id: z.string(), keyId: z.string() }) } as const;

export async function knownLabels({ readLabels }: ConsumerPagesDeps): Promise<KnownLabels> {
  const names = await readLabels().catch(() => undefined);
  return names === undefined ? { unknown: true } : { names };
}

/** Where a page below the list, or below one consumer, stands. */
export function placeOf(consumer?: Consumer) {
  const own = consumer && { href: consumerPath(consumer.id), text: consumer.name };
  const crumbs = [{ href: CONSUMERS_PATH, text: 'Consumers' }, ...(own ? [own] : [])];
  return { section: 'consumers', crumbs } as const;
}

/** As a reader and a form that came back show it alike. */
export async function consumerPage(
  deps: ConsumerPagesDeps,
  id: string,
  given: Pick<ConsumerFacts, 'person' | 'returned'>,
): Promise<PortalPage> {
  const { access, clock, defaultLimit } = deps;
  const consumer = await access.consumers.read(id);
  const filter = { subject: `consumer/${id}` };
  const { items: entries } = await access.listAudit({ filter, limit: LAST_CHANGES });
  const known = { labels: await knownLabels(deps), defaultLimit: defaultLimit() };
  const reader = { timeZone: given.person.timeZone, nowMs: clock.now() };
  return {
    ...placeOf(),
    title: consumer.name,
    badge: standingBadge(consumer, reader, { fill: true }),
    meta: [consumer.id],
    body: consumerView({ ...given, ...known, consumer, entries }, reader),
  };
}
