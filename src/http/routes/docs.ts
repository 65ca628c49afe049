import type { Area } from '../http-app.ts';

/** `/openapi.json` and the offline docs. */
export function docsRoutes(): Area {
  return (app) => {
    app.get('/openapi.json', { schema: { hide: true }, config: { freeQuery: true } }, async () =>
      app.swagger(),
    );
  };
}
