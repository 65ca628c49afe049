import type { Readiness } from '#http/readiness.ts';
import type { Settlement } from '#partners/worker/work-item.ts';
import type { PortalContext } from '#portal/context.ts';
import { portalPages } from '#portal/portal.ts';
import { claimedLeadsIn } from '../../../support/claims.ts';
import { buildAccess } from '../../../support/access.ts';
import { createFakeClock } from '../../../support/clock.ts';
import { REPOSITORY } from '../../../support/directory.ts';
import { buildPartners, settleEvent } from '../../../support/partners.ts';
import { startPortal } from '../../../support/portal/portal.ts';
import { temporaryDatabase } from '../../../support/stores.ts';
import { leaseEvents } from '#partners/worker/lease-events.ts';

/** The pages of receipts and claims over partners on a store, without a worker. */
export async function openReceiptPages(checks: Readiness['checks'] = {}) {
  const clock = createFakeClock();
  const database = temporaryDatabase();
  const { partners, deliver, receipts, work } = buildPartners({ clock, database });
  const access = buildAccess({ clock, database });
  const claimedLeads = claimedLeadsIn(database, { repository: REPOSITORY, clock });
  const issueAddress = (number: string) =>
    `https://tracker.example.com/acme/leads/issues/${number}`;
  const readiness: PortalContext['readiness'] = async () => ({ checks });
  const tracker = { issueAddress };
  const context = { partners, claimedLeads, tracker, readiness };
  const portal = startPortal(portalPages, { context, clock });
  return {
    ...portal,
    partners,
    deliver,
    receipts,
    access,
    claimedLeads,
    clock,
    admin: await portal.signIn(),
    /** Ends all events that wait, as the worker would. */
    settle: async (settlement: Omit<Settlement, 'attempts'>) => {
      for (const item of await leaseEvents(work, 'match', { now: clock.now(), limit: 100 }))
        await settleEvent(work, item, { attempts: 11, ...settlement }, clock.now());
    },
  };
}
