import { grantOf } from '#access/grants/grant.ts';
import type { PortalPage } from '../../page.ts';
import type { PageRequest } from '../../routes/route-types.ts';
import type { PagesContext } from '../context.ts';
import { type ConsumerFacts, consumerView } from './consumer-view.ts';
import { placeOf } from './query.ts';
import type { KnownLabels } from './visibility.ts';
import { consumerBadge } from './words.ts';

const LAST_CHANGES = 5;

export async function knownLabels({ tracker }: PagesContext): Promise<KnownLabels> {
  const names = await tracker.labels().catch(() => undefined);
  return names === undefined ? { unknown: true } : { names };
}

type Request = Pick<PageRequest<unknown, { id: string }>, 'person' | 'params' | 'reader'>;

/** As a reader sees it, and a form that came back. */
export async function consumerPage(
  context: PagesContext,
  { person, params: { id }, reader }: Request,
  returned?: ConsumerFacts['returned'],
): Promise<PortalPage> {
  const { access, defaultLimit, leadFeed } = context;
  const consumer = await access.consumers.read(id);
  const filter = { subject: `consumer/${id}` };
  const { items: entries } = await access.listAudit({ filter, limit: LAST_CHANGES });
  const labels = await knownLabels(context);
  const seen = grantOf(consumer.grants, 'leads:read')?.labels ?? [];
  const follower = await leadFeed.follower({ consumerId: id, labels: seen });
  const limits = { defaultLimit: defaultLimit() };
  const given = { consumer, person, labels, entries, follower, ...limits, returned };
  return {
    ...placeOf(),
    title: consumer.name,
    badge: consumerBadge(consumer, reader, { fill: true }),
    meta: [consumer.id],
    body: consumerView(given, reader),
  };
}
