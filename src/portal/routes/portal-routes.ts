/**
 * The one way to add a page or an action to the portal. A page is a GET; an action is a POST that leads
 * to a page by 303. Before a handler runs, the person, the scope, where a form came from and its token
 * were checked, and everything that the request brings fits its schema.
 */
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';

import type { Session } from '#access/sessions/session.ts';
import type { Sessions } from '#access/sessions/sessions.ts';
import type { HttpApp } from '#http/http-app.ts';
import { TrackportError } from '#shared/errors.ts';

import type { Once } from '../page.ts';
import { checkInput, nothing } from './check-input.ts';
import { submitOnce } from './forms/submit-once.ts';
import type { SubmitOnceDeps } from './forms/submit-once.ts';
import { fieldsOf, FORM_BYTES_MAX, formTokenOf } from './forms/form-body.ts';
import type { FormTokens } from './forms/form-token.ts';
import { ONCE_PARAMETER, PORTAL_HEADERS, sendFile, sendPage } from './send-page.ts';
import { PortalRefusal, refuseOtherOrigins } from './errors/refusal.ts';
import type { ActionOptions, ActionRequest, ActionResult, PortalRoutes } from './route-types.ts';
import { runAction } from './run-action.ts';
import { queryOf, showList } from './show-list.ts';
import type { SendPageDeps } from './send-page.ts';
import type { SessionGuard } from './session-guard.ts';

export type PortalRoutesDeps = SendPageDeps &
  SubmitOnceDeps & {
    sessions: Pick<Sessions, 'putOnce' | 'takeOnce'>;
    guard: SessionGuard;
    formTokens: FormTokens;
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
      const once = isShown ? await takeOnce(sessions, session, onceId) : undefined;
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
        const run = toRun(deps, request, options as unknown as AnyOptions);
        const outcome = await runAction(run, handler as unknown as AnyHandler);
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
    app.get(path, PORTAL_ROUTE, async ({ url }, reply) => {
      const [own = ''] = url.split('?');
      const page = own.split('/').slice(0, count).join('/');
      return reply.headers(PORTAL_HEADERS).redirect(page === '' ? '/portal' : page, 303);
    });
  }
}

type AnyOptions = ActionOptions<z.ZodType, z.ZodType, z.ZodType>;
type AnyHandler = (request: ActionRequest<unknown, unknown>) => Promise<ActionResult>;

/** @throws {PortalRefusal} the form is not one of this session @throws {not-found} */
function toRun(
  { guard, sessions, formTokens, ...once }: PortalRoutesDeps,
  request: FastifyRequest,
  { form, params = nothing, page, onProblems = page, doneOnce = false }: AnyOptions,
) {
  const session = sessionOf(request);
  const token = formTokenOf(request);
  const isStale = !formTokens.fits(session, token);
  // From a page of ours, as the browser says, that the same person had: what was typed is shown again, not done.
  const isTheirs = request.headers.origin !== undefined && formTokens.isOfPerson(session, token);
  const canComeBack = onProblems !== undefined && isTheirs;
  if (isStale && !canComeBack) throw new PortalRefusal('stale-form');
  const sent = { session, path: request.url, typed: fieldsOf(request) };
  return {
    sessions,
    request,
    session,
    isStale,
    path: pathOf(request),
    person: guard.personOf(session),
    params: paramsOf(request, params),
    typed: sent.typed,
    form,
    onProblems,
    around: doneOnce ? (work: () => Promise<string>) => submitOnce(once, sent, work) : undefined,
  };
}

const pathOf = ({ url }: FastifyRequest): string => url.split('?')[0] ?? '';

async function takeOnce(
  sessions: PortalRoutesDeps['sessions'],
  session: Session,
  id: string,
): Promise<Once | undefined> {
  return (await sessions.takeOnce(session, id)) as Once | undefined;
}

function sessionOf(request: FastifyRequest): Session {
  if (!request.portalSession) throw new Error('the guard of the portal did not run');
  return request.portalSession;
}

/** A path that no object can have is one where nothing is. */
function paramsOf(request: FastifyRequest, schema: z.ZodType): unknown {
  const checked = checkInput(schema, 'params', request.params);
  if (checked.kind === 'good') return checked.value;
  throw new TrackportError('not-found', { detail: 'There is no page at this address.' });
}
