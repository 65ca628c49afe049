import type { Partners } from '#partners/index.ts';
import type { Clock } from '#shared/clock.ts';
import type { PortalRoutes } from '../../routes/route-types.ts';
import { partnersMeta, partnersView } from './view.ts';

export type PartnerPagesDeps = { partners: Pick<Partners, 'list'>; clock: Pick<Clock, 'now'> };

/** `/portal/partners`: who gets through. Nothing can be changed there: the configuration file rules. */
export function partnerPages(portal: PortalRoutes, { partners, clock }: PartnerPagesDeps): void {
  portal.page('/portal/partners', { scope: 'trackport:admin' }, async ({ person }) => {
    const list = await partners.list();
    const reader = { timeZone: person.timeZone, nowMs: clock.now() };
    return {
      title: 'Partners',
      section: 'partners',
      meta: [partnersMeta(list)],
      body: partnersView(list, reader),
    };
  });
}
