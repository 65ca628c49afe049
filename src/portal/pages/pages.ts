import type { PortalRoutes } from '../routes/route-types.ts';
import { auditPages } from './audit/routes.ts';
import { catalogPages } from './catalog/routes.ts';
import { consumerPages } from './consumers/routes.ts';
import type { PagesContext } from './context.ts';
import { overviewPages } from './overview/routes.ts';
import { partnerPages } from './partners/routes.ts';
import { receiptPages } from './receipts/routes.ts';

/** Every page of the portal with its actions; each area has a folder. */
export function addPages(portal: PortalRoutes, context: PagesContext): void {
  overviewPages(portal, context);
  consumerPages(portal, context);
  receiptPages(portal, context);
  partnerPages(portal, context);
  catalogPages(portal, context);
  auditPages(portal, context);
}
