import type { BearerContext, HttpApp } from '../context.ts';
import { requireCatalogAccess } from '../auth/catalog-access.ts';
import { auditRoutes } from './audit.ts';
import { apiCatalogRoutes } from './catalog/api-catalog.ts';
import { addCatalogLifecycle } from './catalog/lifecycle.ts';
import { addCatalogDiff } from './catalog/diff.ts';
import { addCatalogReads, addCatalogUsage } from './catalog/reads.ts';
import { acceptSpecJson, addCatalogWrites } from './catalog/writes.ts';
import { claimRoutes } from './claims.ts';
import { consumerRoutes } from './consumers.ts';
import { receiptRoutes } from './receipts.ts';

/** The areas that take bearer tokens, loaded where there is an issuer. */
export const bearerAreas: readonly ((app: HttpApp, context: BearerContext) => void)[] = [
  catalogRoutes,
  apiCatalogRoutes,
  consumerRoutes,
  receiptRoutes,
  auditRoutes,
  claimRoutes,
];

/** Artifacts and their versions, for tokens with a scope of the catalog; their reads for keys, too. */
function catalogRoutes(app: HttpApp, context: BearerContext): void {
  requireCatalogAccess(app, context);
  acceptSpecJson(app, context);
  addCatalogReads(app, context);
  addCatalogDiff(app, context);
  addCatalogUsage(app, context);
  addCatalogWrites(app, context);
  addCatalogLifecycle(app, context);
}
