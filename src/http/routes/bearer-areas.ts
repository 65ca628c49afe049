import type { Area, HttpContext } from '../http-app.ts';
import { auditRoutes, type AuditRoutesDeps } from './audit/routes.ts';
import type { CatalogRoutesDeps } from './catalog/caller.ts';
import { catalogRoutes } from './catalog/routes.ts';
import { claimRoutes, type ClaimRoutesDeps } from './claims/routes.ts';
import { consumerRoutes, type ConsumerRoutesDeps } from './consumers/routes.ts';
import { receiptRoutes, type ReceiptRoutesDeps } from './receipts/routes.ts';

/** The services of the areas that take bearer tokens. An area without services has no routes. */
export type BearerAreasDeps = {
  catalog?: CatalogRoutesDeps;
  consumers?: ConsumerRoutesDeps;
  receipts?: ReceiptRoutesDeps;
  audit?: AuditRoutesDeps;
  claims?: ClaimRoutesDeps;
};

/** Those of which there are services. */
export function bearerAreas(context: HttpContext, deps: BearerAreasDeps): (Area | undefined)[] {
  const { catalog, consumers, receipts, audit, claims } = deps;
  return [
    catalog && catalogRoutes(context, catalog),
    consumers && consumerRoutes(context, consumers),
    receipts && receiptRoutes(context, receipts),
    audit && auditRoutes(context, audit),
    claims && claimRoutes(context, claims),
  ];
}
