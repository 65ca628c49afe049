/**
 * The one way to add a page or an action to the portal. A page is a GET; an action is a POST that leads
 * to a page by 303. Before a handler runs, the person, the scope, where a form came from and its token
 * were checked, and everything that the request brings fits its schema.
 */
import type { FastifyRequest } from 'fastify';

import type { Sessions } from '#access/sessions/sessions.ts';
import type { HttpApp } from '#http/http-app.ts';

import type { Once } from '../page.ts';
import { nothing, paramsOf, pathOf } from './check-input.ts';
import { refuseOtherOrigins } from './errors/refusal.ts';
import { FORM_BYTES_MAX } from './forms/form-body.ts';
import type { PortalRoutes } from './route-types.ts';
import { type AnyAction, runAction, type RunActionDeps } from './run-action.ts';
import {
  ONCE_PARAMETER,
  PORTAL_HEADERS,
  sendFile,
  sendPage,
  type SendPageDeps,
} from './send-page.ts';
import { type SessionGuard, sessionOf } from './session-guard.ts';
import { queryOf, showList } from './show-list.ts';

export type PortalRoutesDeps = SendPageDeps &
  RunActionDeps & {
    sessions: Pick<Sessions, 'takeOnce'>;
    guard: SessionGuard;
    publicUrl: () => string;
  };

/** For every route of the portal: it is in no OpenAPI document, and its input is checked here. */
export const PORTAL_ROUTE = {
  schema: { hide: true },
  config: { freeQuery: true, signedBody: true },
} as const;

/** Call `finish` when all are added. */
export function createPortalRoutes(
  app: HttpApp,
  deps: PortalRoutesDeps,
): PortalRoutes & { finish(): void } {
  const { guard, sessions } = deps;
  const pages = new Set<string>();
  const actions = new Set<string>();
  const page: PortalRoutes['page'] = (path, options, handler) => {
    const { scope, query = nothing, params = nothing, isList } = options;
    pages.add(path);
    const onRequest = async (request: FastifyRequest): Promise<void> => {
      await guard.require(request, scope);
    };
    app.get(path, { ...PORTAL_ROUTE, onRequest }, async (request, reply) => {
      const session = sessionOf(request);
      const { [ONCE_PARAMETER]: onceId, ...given } = request.query as Record<string, unknown>;
      const input = {
        person: guard.personOf(session),
        session,
        path: pathOf(request),
        params: paramsOf(request, params),
      };
      const isShown = request.method === 'GET' && typeof onceId === 'string';
      const left = isShown ? await sessions.takeOnce(session, onceId) : undefined;
      const once = left as Once | undefined;
      // The schemas' defaults are those of the type parameters.
      const show = (more: object) => handler({ ...input, once, ...more } as never);
      if (isList) {
        const list = await showList(given, query, show);
        return sendPage(deps, { request, reply }, list.page, list.refused ?? once);
      }
      const result = await show({ query: queryOf(given, query), wrong: {} });
      if ('content' in result) return sendFile(reply, result);
      return sendPage(deps, { request, reply }, result, once);
    });
  };
  return {
    finish: () => leadToPages(app, pages, actions),
    page,
    action: (path, options, handler) => {
      actions.add(path);
      const formPage = options.page;
      if (formPage)
        page(path, options, (request) => formPage({ ...request, typed: {}, problems: [] }));
      const { scope, formBytesMax = FORM_BYTES_MAX } = options;
      const onRequest = async (request: FastifyRequest): Promise<void> => {
        refuseOtherOrigins(request, deps.publicUrl());
        await guard.require(request, scope);
      };
      const route = { ...PORTAL_ROUTE, bodyLimit: formBytesMax, onRequest };
      app.post(path, route, async (request, reply) => {
        const outcome = await runAction(deps, request, {
          options,
          handler,
        } as unknown as AnyAction);
        if (outcome.kind === 'problems') return sendPage(deps, { request, reply }, outcome.page);
        return reply.headers(PORTAL_HEADERS).redirect(outcome.location, 303);
      });
    },
  };
}

/** Who reads the address of an action, as after a form that came back, gets the page above it. */
function leadToPages(app: HttpApp, pages: ReadonlySet<string>, actions: ReadonlySet<string>): void {
  for (const path of actions) {
    const segments = path.split('/');
    const isPage = (count: number): boolean => pages.has(segments.slice(0, count).join('/'));
    const count = segments.findLastIndex((_segment, at) => isPage(at + 1)) + 1;
    if (count === segments.length) continue;
    app.get(path, PORTAL_ROUTE, async (request, reply) => {
      const page = pathOf(request).split('/').slice(0, count).join('/');
      return reply.headers(PORTAL_HEADERS).redirect(page === '' ? '/portal' : page, 303);
    });
  }
}
