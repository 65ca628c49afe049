import type { PortalRoutes } from '../../routes/route-types.ts';
import { link } from '../../shell/parts.ts';
import { addConsumerActions } from './actions.ts';
import { consumerListView } from './list-view.ts';
import { createPages, ofConsumer, ofKey, scope } from './page-makers.ts';
import type { ConsumerPagesDeps } from './page-makers.ts';
import { CONSUMERS_PATH, consumersQuery, toFilter } from './query.ts';

/** With the longest names and labels the page stays below 50 KB. */
const PAGE_CONSUMERS = 25;

/** Consumers with their grants and keys: `/portal/consumers` and what lies below. */
export function consumerPages(portal: PortalRoutes, deps: ConsumerPagesDeps): void {
  const pages = createPages(deps);
  portal.page(
    CONSUMERS_PATH,
    { scope, query: consumersQuery, isList: true },
    async ({ person, query, wrong }) => {
      const { cursor } = query;
      const request = { filter: toFilter(query), limit: PAGE_CONSUMERS };
      const found = await deps.access.consumers.find(cursor ? { ...request, cursor } : request);
      const { items: consumers, pagination } = found;
      return {
        title: 'Consumers',
        section: 'consumers',
        meta: ['Machines that read leads. Grants say what they may do, keys say who they are.'],
        actions: link({ href: `${CONSUMERS_PATH}/new`, text: 'Create consumer', look: 'primary' }),
        body: consumerListView({ consumers, pagination, query, wrong }, pages.reader(person)),
      };
    },
  );
  portal.page(`${CONSUMERS_PATH}/new`, { scope }, ({ person }) => pages.create({ person }));
  portal.page(`${CONSUMERS_PATH}/:id`, ofConsumer, ({ person, params }) =>
    pages.show(params.id, { person }),
  );
  portal.page(`${CONSUMERS_PATH}/:id/revoke`, ofConsumer, ({ person, params }) =>
    pages.confirmRevoke(params.id, { person }),
  );
  portal.page(`${CONSUMERS_PATH}/:id/keys/new`, ofConsumer, ({ person, params }) =>
    pages.newKey(params.id, { person }),
  );
  portal.page(`${CONSUMERS_PATH}/:id/keys/:keyId/rotate`, ofKey, ({ person, params }) =>
    pages.confirmRotateKey(params, { person }),
  );
  portal.page(`${CONSUMERS_PATH}/:id/keys/:keyId/revoke`, ofKey, ({ person, params }) =>
    pages.confirmRevokeKey(params, { person }),
  );
  addConsumerActions(portal, deps, pages);
}
