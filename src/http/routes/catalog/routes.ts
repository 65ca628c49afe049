import type { Area, HttpApp, HttpContext } from '../../http-app.ts';
import { requireBearer } from '../../auth/bearer.ts';
import type { CatalogRoutesDeps } from './caller.ts';
import { acceptSpecJson } from './spec-body.ts';
import { addCatalogLifecycle } from './lifecycle.ts';
import { addCatalogReads } from './reads.ts';
import { addDiffRead } from './diff.ts';
import { addSpecRead } from './spec.ts';
import { addCatalogWrites } from './writes.ts';

/** Artifacts and their versions, for bearer tokens with a scope of the catalog. */
export function catalogRoutes(context: HttpContext, deps: CatalogRoutesDeps): Area {
  return (app: HttpApp) => {
    requireBearer(app, deps.authorize);
    acceptSpecJson(app, { ...context, ...deps });
    addCatalogReads(app, context, deps);
    addSpecRead(app, deps);
    addDiffRead(app, deps);
    addCatalogWrites(app, deps);
    addCatalogLifecycle(app, deps);
  };
}
