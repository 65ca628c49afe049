import type { Partners } from '#partners/index.ts';
import type { Clock } from '#shared/clock.ts';
import type { PortalRoutes } from '../../routes/route-types.ts';
import { receiptListView } from './list-view.ts';
import { RECEIPTS_PATH, receiptsQuery, toFilter } from './query.ts';

export type ReceiptPagesDeps = {
  partners: Pick<Partners, 'list' | 'receipts'>;
  clock: Pick<Clock, 'now'>;
};

const PAGE_RECEIPTS = 50;

const scope = 'trackport:admin';

/** Receipts and what became of their events: `/portal/receipts` and what lies below. */
export function receiptPages(portal: PortalRoutes, deps: ReceiptPagesDeps): void {
  const { partners, clock } = deps;
  portal.page(RECEIPTS_PATH, { scope, query: receiptsQuery }, async ({ person, query }) => {
    const { cursor } = query;
    const request = { filter: toFilter(query), limit: PAGE_RECEIPTS };
    const [page, known] = await Promise.all([
      partners.receipts.page(cursor === undefined ? request : { ...request, cursor }),
      partners.list(),
    ]);
    const { receipts, pagination } = page;
    const partnerIds = known.map(({ id }) => id);
    const reader = { timeZone: person.timeZone, nowMs: clock.now() };
    return {
      title: 'Receipts',
      section: 'receipts',
      meta: ['One for each accepted delivery, on disk before the partner got its 202.'],
      body: receiptListView({ receipts, pagination, query, partnerIds }, reader),
    };
  });
}
