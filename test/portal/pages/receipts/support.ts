import { receiptPages } from '#portal/pages/receipts/routes.ts';
import { createFakeClock } from '../../../support/clock.ts';
import { buildPartners } from '../../../support/partners.ts';
import { startPortal } from '../../../support/portal/portal.ts';

/** The pages of receipts over partners on a store, without a worker. */
export async function openReceiptPages() {
  const clock = createFakeClock();
  const world = buildPartners({ clock });
  const portal = startPortal((routes) => receiptPages(routes, { partners: world.partners, clock }));
  return { ...world, ...portal, clock, admin: await portal.signIn() };
}
