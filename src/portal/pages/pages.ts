import type { PortalRoutes } from '../routes/route-types.ts';
import { auditPages, type AuditPagesDeps } from './audit/routes.ts';
import type { CatalogPagesDeps } from './catalog/versions.ts';
import { catalogPages } from './catalog/routes.ts';
import { consumerPages } from './consumers/routes.ts';
import type { ConsumerPagesDeps } from './consumers/consumer-page.ts';
import { type OverviewDeps, overviewPages } from './overview/routes.ts';
import { partnerPages, type PartnerPagesDeps } from './partners/routes.ts';
import { receiptPages } from './receipts/routes.ts';
import type { ReceiptPagesDeps } from './receipts/receipt-deps.ts';

/** What the pages of all areas work on. */
export type PagesDeps = AuditPagesDeps &
  ConsumerPagesDeps &
  PartnerPagesDeps &
  ReceiptPagesDeps &
  CatalogPagesDeps & { overview: OverviewDeps };

/** Every page of the portal with its actions; each area has a folder. */
export function addPages(portal: PortalRoutes, deps: PagesDeps): void {
  overviewPages(portal, deps.overview);
  consumerPages(portal, deps);
  receiptPages(portal, deps);
  partnerPages(portal, deps);
  catalogPages(portal, deps);
  auditPages(portal, deps);
}
