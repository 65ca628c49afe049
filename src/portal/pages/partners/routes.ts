import type { z } from 'zod';
import type { Partners } from '#partners/index.ts';
import type { Clock } from '#shared/clock.ts';
import type { PortalRoutes } from '../../routes/route-types.ts';
import { PARTNERS_PATH, partnersQuery } from './query.ts';
import { partnersMeta, partnersView } from './view.ts';

export type PartnerPagesDeps = { partners: Pick<Partners, 'list'>; clock: Pick<Clock, 'now'> };

const scope = 'trackport:admin';
/** As many as fit into a page, each with all its reasons and some secrets. */
const PARTNERS_SHOWN = 5;

/** `/portal/partners`: who gets through. Nothing can be changed there: the configuration file rules. */
export function partnerPages(portal: PortalRoutes, { partners, clock }: PartnerPagesDeps): void {
  portal.page(
    PARTNERS_PATH,
    { scope, query: partnersQuery, isList: true },
    async ({ person, query }) => {
      const list = await partners.list();
      const start = startOf(list, query);
      const reader = { timeZone: person.timeZone, nowMs: clock.now() };
      return {
        title: 'Partners',
        section: 'partners',
        meta: [partnersMeta(list)],
        body: partnersView({ partners: list, start, shown: PARTNERS_SHOWN }, reader),
      };
    },
  );
}

/** Pages begin at multiples, so that the one of a partner is always the same. */
function startOf(
  list: readonly { id: string }[],
  { id: given, start }: z.output<typeof partnersQuery>,
): number {
  const at = given === undefined ? start : list.findIndex(({ id }) => id === given);
  const last = Math.max(0, list.length - 1);
  const within = Math.min(Math.max(0, at), last);
  return within - (within % PARTNERS_SHOWN);
}
