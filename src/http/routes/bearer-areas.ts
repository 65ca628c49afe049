import type { BearerContext, HttpApp } from '../context.ts';
import { auditRoutes } from './audit.ts';
import { catalogRoutes } from './catalog/routes.ts';
import { claimRoutes } from './claims.ts';
import { consumerRoutes } from './consumers/routes.ts';
import { receiptRoutes } from './receipts.ts';

/** The areas that take bearer tokens, loaded where there is an issuer. */
export const bearerAreas: readonly ((app: HttpApp, context: BearerContext) => void)[] = [
  catalogRoutes,
  consumerRoutes,
  receiptRoutes,
  auditRoutes,
  claimRoutes,
];
