/** The routes for what no page and no action takes: an unknown path, or another method. */
import type { FastifyReply, FastifyRequest } from 'fastify';

import type { HttpApp } from '#http/http-app.ts';
import { createKnownPaths } from '#http/requests/known-paths.ts';
import { routedPath } from '#http/requests/routed-path.ts';
import { TrackportError } from '#shared/errors.ts';

import { PORTAL_ROUTE } from './portal-routes.ts';
import type { SessionGuard } from './session-guard.ts';

/**
 * Refuses such requests before a body is read: 405 with `Allow` where the path takes another method, else 404.
 * Knows the routes that are added after it.
 */
export function addFallbackRoutes(app: HttpApp, guard: Pick<SessionGuard, 'find'>): void {
  const paths = createKnownPaths();
  const refuse = async (request: FastifyRequest, reply: FastifyReply): Promise<never> => {
    await guard.find(request); // For the frame of the page.
    const methods = paths.methodsOf(routedPath(request.url));
    // A part of a path can be longer than routes take.
    if (!methods || methods.includes(request.method))
      throw new TrackportError('not-found', { detail: 'There is no page at this address.' });
    const allow = methods.join(', ');
    reply.header('allow', allow);
    throw new TrackportError('method-not-allowed', { detail: `This address takes: ${allow}.` });
  };
  const route = { ...PORTAL_ROUTE, onRequest: refuse, handler: refuse };
  const method = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];
  app.route({ ...route, method, url: '/portal' });
  app.route({ ...route, method: ['GET', ...method], url: '/portal/*' });
  app.addHook('onRoute', (added) => paths.add(added));
}
