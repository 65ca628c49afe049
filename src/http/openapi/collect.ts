import type { RouteOptions } from 'fastify';
import type { HttpApp } from '../http-app.ts';

/** Notes all routes that are registered later, for the document of them. */
export function collectRoutes(app: HttpApp): void {
  const routes: RouteOptions[] = [];
  app.addHook('onRoute', (route) => void routes.push(route));
  app.decorate('routes', routes);
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Complete when the instance is ready. */
    routes: readonly RouteOptions[];
  }
}
