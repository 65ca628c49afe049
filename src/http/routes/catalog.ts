import type { Area, HttpApp, HttpContext } from '../http-app.ts';
import { requireBearer } from '../bearer.ts';
import type { CatalogRoutesDeps } from '../catalog-call.ts';
import { acceptSpecJson } from '../spec-body.ts';
import { addCatalogLifecycle } from './catalog-lifecycle.ts';
import { addCatalogReads } from './catalog-reads.ts';
import { addCatalogWrites } from './catalog-writes.ts';

/** Artifacts and their versions, for bearer tokens with a scope of the catalog. */
export function catalogRoutes(context: HttpContext, deps: CatalogRoutesDeps): Area {
  return (app: HttpApp) => {
    requireBearer(app, deps.authorize);
    acceptSpecJson(app);
    addCatalogReads(app, context, deps);
    addCatalogWrites(app, deps);
    addCatalogLifecycle(app, deps);
  };
}
