import type { Area, HttpApp, HttpContext } from '../../http-app.ts';
import { requireCatalogAccess } from '../../auth/catalog-access.ts';
import type { CatalogRoutesDeps } from './caller.ts';
import { acceptSpecJson } from './spec-body.ts';
import { addCatalogLifecycle } from './lifecycle.ts';
import { addCatalogReads } from './reads.ts';
import { addDiffRead } from './diff.ts';
import { addSpecRead } from './spec.ts';
import { addCatalogWrites } from './writes.ts';

/** Artifacts and their versions, for tokens with a scope of the catalog; their reads for keys, too. */
export function catalogRoutes(context: HttpContext, deps: CatalogRoutesDeps): Area {
  return (app: HttpApp) => {
    requireCatalogAccess(app, context, deps);
    acceptSpecJson(app, { ...context, ...deps });
    addCatalogReads(app, context, deps);
    addSpecRead(app, deps);
    addDiffRead(app, deps);
    addCatalogWrites(app, deps);
    addCatalogLifecycle(app, deps);
  };
}
