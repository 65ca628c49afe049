import type { PortalRoutes } from '../../routes/route-types.ts';
import { html, type Html } from '../../html.ts';
import { parseLeadId } from '#leads/model/identity.ts';
import { claimPages } from './claims.ts';
import { receiptListView } from './list-view.ts';
import { claimPath } from './leads.ts';
import { link } from '../../shell/parts.ts';
import {
  givenFilters,
  RECEIPTS_PATH,
  type ReceiptsFilters,
  receiptsPath,
  receiptsQuery,
  type ReceiptsQuery,
  toFilter,
} from './query.ts';
import { replayPages } from './replay.ts';
import { readerOf, type ReceiptPagesDeps, scope } from './receipt-deps.ts';
import { receiptPage } from './receipt-pages.ts';

const PAGE_RECEIPTS = 25;

/** Receipts, what became of their events, and the claims of deletions on leads. */
export function receiptPages(portal: PortalRoutes, deps: ReceiptPagesDeps): void {
  listPage(portal, deps);
  replayPages(portal, deps);
  receiptPage(portal, deps);
  claimPages(portal, deps);
}

function listPage(portal: PortalRoutes, deps: ReceiptPagesDeps): void {
  const { partners } = deps;
  portal.page(
    RECEIPTS_PATH,
    { scope, query: receiptsQuery, isList: true },
    async ({ person, query, wrong }) => {
      const { cursor } = query;
      const request = { filter: toFilter(query, person.timeZone), limit: PAGE_RECEIPTS };
      const [page, known] = await Promise.all([
        partners.receipts.page(cursor === undefined ? request : { ...request, cursor }),
        partners.list(),
      ]);
      const { receipts: items, pagination } = page;
      const partnerIds = known.map(({ id }) => id);
      const facts = { items, pagination, query, wrong, partnerIds };
      return {
        title: 'Receipts',
        section: 'receipts',
        meta: ['One for each accepted delivery, on disk before the partner got its 202.'],
        actions: actionsFor(query, items.length > 0),
        body: receiptListView(facts, readerOf(deps, person)),
      };
    },
  );
}

/** Only what failed or found nobody is ever worked again. */
function canHoldReplayable({ outcome, status }: ReceiptsFilters): boolean {
  if (status === 'PROCESSED') return false;
  return outcome === undefined || outcome === 'FAILED' || outcome === 'UNMATCHED';
}

/**
 * A replay where a filter narrows the list, for everything at once is never meant; and for one lead its
 * claim, which stays when its receipts are gone.
 */
function actionsFor(
  { cursor: _cursor, ...filters }: ReceiptsQuery,
  hasMatches: boolean,
): Html | undefined {
  if (givenFilters(filters).length === 0) return undefined;
  const number = filters.leadId === undefined ? undefined : parseLeadId(filters.leadId);
  const claim =
    number !== undefined &&
    link({
      href: claimPath(String(number)),
      text: `Does a deletion hide #${number}?`,
      look: 'button',
    });
  const replay =
    hasMatches &&
    canHoldReplayable(filters) &&
    link({
      href: receiptsPath(filters, 'replay'),
      text: 'Replay all that match…',
      look: 'button',
    });
  return html`${claim} ${replay}`;
}
