import type { PortalRoutes } from '../../routes/route-types.ts';
import { link } from '../../shell/parts.ts';
import { addConsumerActions } from './actions.ts';
import { addConsumerConfirmations } from './confirmations.ts';
import { consumerPage, ofConsumer, scope } from './consumer-page.ts';
import type { ConsumerPagesDeps } from './consumer-page.ts';
import { consumerListView } from './list-view.ts';
import { CONSUMERS_PATH, consumersQuery, toFilter } from './query.ts';

/** With the longest names and labels the page stays below 50 KB. */
const PAGE_CONSUMERS = 25;

/** Consumers with their grants and keys: `/portal/consumers` and what lies below. */
export function consumerPages(portal: PortalRoutes, deps: ConsumerPagesDeps): void {
  portal.page(
    CONSUMERS_PATH,
    { scope, query: consumersQuery, isList: true },
    async ({ person: { timeZone }, query, wrong }) => {
      const { cursor } = query;
      const request = { filter: toFilter(query), limit: PAGE_CONSUMERS };
      const found = await deps.access.consumers.find(cursor ? { ...request, cursor } : request);
      const reader = { timeZone, nowMs: deps.clock.now() };
      return {
        title: 'Consumers',
        section: 'consumers',
        meta: ['Machines that read leads. Grants say what they may do, keys say who they are.'],
        actions: link({ href: `${CONSUMERS_PATH}/new`, text: 'Create consumer', look: 'primary' }),
        body: consumerListView({ ...found, query, wrong }, reader),
      };
    },
  );
  portal.page(`${CONSUMERS_PATH}/:id`, ofConsumer, ({ person, params }) =>
    consumerPage(deps, params.id, { person }),
  );
  addConsumerActions(portal, deps);
  addConsumerConfirmations(portal, deps);
}
