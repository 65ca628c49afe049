import type { Access } from '#access/index.ts';
import type { Partners } from '#partners/index.ts';
import type { Clock } from '#shared/clock.ts';

import type { PortalRoutes } from '../routes/route-types.ts';
import { auditPages } from './audit/routes.ts';
import { overviewPages } from './overview/routes.ts';
import type { OverviewDeps } from './overview/routes.ts';
import { partnerPages } from './partners/routes.ts';
import { receiptPages } from './receipts/routes.ts';

/** The use cases that pages work on. */
export type PagesDeps = {
  access: Access;
  partners: Pick<Partners, 'list' | 'receipts'>;
  overview: OverviewDeps;
  /** How the audit log names the portal. */
  portalClientId: string;
  clock: Clock;
};

/** Every page of the portal with its actions; each area has a folder. */
export function addPages(portal: PortalRoutes, deps: PagesDeps): void {
  overviewPages(portal, deps.overview);
  receiptPages(portal, deps);
  partnerPages(portal, deps);
  auditPages(portal, deps);
}
