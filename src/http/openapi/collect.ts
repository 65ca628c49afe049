import type { RouteOptions } from 'fastify';
import type { HttpApp } from '../http-app.ts';
import type { OpenApiDocument } from './document.ts';

/**
 * Notes all routes that are registered later. What makes a document of them is loaded when somebody
 * asks for it, which few ever do.
 */
export function collectOpenApi(app: HttpApp): void {
  const routes: RouteOptions[] = [];
  app.addHook('onRoute', (route) => void routes.push(route));
  app.decorate('openApi', async () => {
    const { buildDocument } = await import('./build-document.ts');
    return buildDocument(routes);
  });
  app.decorate('openApiText', async () => {
    const { servedText } = await import('./served-text.ts');
    return servedText(routes);
  });
}

/** The document of all registered routes; the same text for the same routes. */
export async function buildOpenApi(app: HttpApp): Promise<OpenApiDocument> {
  await app.ready();
  return app.openApi();
}

declare module 'fastify' {
  interface FastifyInstance {
    /** The document of all routes, made anew each time; only when the instance is ready. */
    openApi: () => Promise<OpenApiDocument>;
    /** The text of `/openapi.json`, which is made of a file where there is one. */
    openApiText: () => Promise<string>;
  }
}
