/**
 * The one way to add a page or an action to the portal. A page is a GET; an action is a POST that leads
 * to a page by 303. Before a handler runs, the person, the scope, where a form came from and its token
 * were checked, and everything that the request brings fits its schema.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HttpApp } from '#http/context.ts';
import { createKnownPaths, routedPath } from '#http/requests/paths.ts';
import { type FieldProblem, isTrackportError, refuse, TrackportError } from '#shared/errors.ts';
import { requireScope } from '#access/tokens.ts';
import { SIGN_IN_GOOD_MS } from '#access/sessions/sessions.ts';
import { HOUR } from '#shared/clock.ts';
import { confirmAtIssuer } from '../sign-in/attempts.ts';
import type { PortalContext } from '../context.ts';
import type { Once, PortalFile, PortalPage } from '../page.ts';
import {
  checkInput,
  pathOf,
  findSession,
  isReload,
  RELOAD_PARAMETER,
  portalRequestOf,
  requireSession,
  sessionOf,
} from './portal-request.ts';
import { nothing, type PortalRoutes } from './page-actions.ts';
import type { HeldForm } from '../shell/forms.ts';
import { addActionRoute, type AnyAction } from './action-route.ts';
import { ONCE_PARAMETER, PORTAL_HEADERS, sendFile, sendPage, PORTAL_ROUTE } from './send-page.ts';
import type { z } from 'zod';
import { problemOf } from '../shell/notice.ts';

/** Call `finish` when all are added. */
export function createPortalRoutes(
  app: HttpApp,
  context: PortalContext,
): PortalRoutes & { finish(): void } {
  const { sessions } = context;
  const pages = new Set<string>();
  const actions = new Set<string>();
  const page: PortalRoutes['page'] = (path, options, handler) => {
    const { scope, query = nothing, params = nothing, isList } = options;
    pages.add(path);
    const onRequest = async (request: FastifyRequest): Promise<void> => {
      await requireSession(context, request);
    };
    app.get(path, { ...PORTAL_ROUTE, onRequest }, async (request, reply) => {
      const { [ONCE_PARAMETER]: onceId, ...rest } = request.query as Record<string, unknown>;
      const { [RELOAD_PARAMETER]: _reload, ...given } = rest;
      const session = sessionOf(request);
      const isShown = request.method === 'GET' && typeof onceId === 'string';
      const left = isShown ? await sessions.takeOnce(session, onceId) : undefined;
      // The page that a form led to is part of that: what it shows once is not risked.
      const isOld = isReload(request) ? sessions.isTooOldToAct : sessions.isToBeConfirmed;
      const isToConfirm = !left && isOld(session);
      const away = isToConfirm ? await confirmAtIssuer(context, { request, reply }) : undefined;
      if (away) return away;
      if (scope !== undefined) requireScope(session.principal, scope);
      const input = portalRequestOf(context, request, params);
      const once = isToConfirm ? unconfirmed(context) : (left as Once | undefined);
      // The schemas' defaults are those of the type parameters.
      const show = (more: object) => handler({ ...input, ...more } as never);
      if (isList) {
        const list = await showList(given, query, show);
        return sendPage(context, { request, reply }, list.page, list.refused ?? once);
      }
      const result = await show({ query: queryOf(given, query), ...NOTHING_HELD });
      if ('content' in result) return sendFile(reply, result);
      return sendPage(context, { request, reply }, result, once);
    });
  };
  return {
    finish: () => redirectActionsToPages(app, pages, actions),
    page,
    action: (path, given) => {
      actions.add(path);
      const action = given as unknown as AnyAction;
      if (action.page) page(path, action, action.page);
      addActionRoute(app, context, path, action);
    },
  };
}

function unconfirmed({ issuer }: PortalContext): Once {
  const notice = `${new URL(issuer).host} cannot be reached to confirm that you are still signed in there. Until then you see what you may; forms count for ${SIGN_IN_GOOD_MS / HOUR} hours after it did.`;
  return { notice, isUndone: true };
}

/** Leads from the address of an action, as after a form that came back, to the page above it. */
function redirectActionsToPages(
  app: HttpApp,
  pages: ReadonlySet<string>,
  actions: ReadonlySet<string>,
): void {
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

/**
 * Refuses what no page and no action takes, before a body is read: 405 with `Allow` where the path takes another
 * method, else 404. Knows the routes that are added after it.
 */
export function addFallbackRoutes(app: HttpApp, context: PortalContext): void {
  const paths = createKnownPaths();
  const refuse = async (request: FastifyRequest, reply: FastifyReply): Promise<never> => {
    await findSession(context, request); // For the frame of the page.
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

const NOTHING_HELD: HeldForm = { typed: {}, problems: [] };

type Search = Readonly<Record<string, unknown>>;
type Show = (input: { query: unknown } & HeldForm) => Promise<PortalPage | PortalFile>;

/** @throws {validation-failed} */
function queryOf(given: Search, schema: z.ZodType): unknown {
  const checked = checkInput(schema, 'querystring', given);
  return 'value' in checked ? checked.value : refuse(checked.problems);
}

/**
 * The list without the filters that its schema or its use case refuses, with what was typed still in
 * their fields. It shows more than was asked for, so it offers nothing that works on all that it shows.
 */
async function showList(
  given: Search,
  schema: z.ZodType,
  show: Show,
): Promise<{ page: PortalPage; refused?: Once }> {
  const checked = checkInput(schema, 'querystring', given);
  const known = 'value' in checked ? [] : checked.problems;
  try {
    return await showWithout(known, { given, schema, show });
  } catch (error) {
    const found = isTrackportError(error, 'validation-failed') ? (error.errors ?? []) : [];
    if (found.length === 0) throw error;
    return showWithout([...known, ...found], { given, schema, show });
  }
}

/** Characters of what was typed: the rest of a longer text is no use to anybody. */
const TYPED_SHOWN = 100;

type List = { given: Search; schema: z.ZodType; show: Show };

async function showWithout(problems: readonly FieldProblem[], { given, schema, show }: List) {
  const entries = Object.entries(given);
  const isWrong = ([name]: [string, unknown]) => problemOf(problems, name) !== undefined;
  const query = queryOf(Object.fromEntries(entries.filter((one) => !isWrong(one))), schema);
  const wrong = entries.filter(isWrong);
  const typed = wrong.map(([name, value]) => [name, String(value).slice(0, TYPED_SHOWN)] as const);
  const page = (await show({ query, typed: Object.fromEntries(typed), problems })) as PortalPage;
  if (problems.length === 0) return { page };
  const { actions: _actions, ...wider } = page;
  const details = problems.map(({ detail }) => detail).join(' ');
  const notice = `Shown without a filter that is wrong: ${details}`;
  return {
    page: { ...wider, status: 400, hasProblems: true },
    refused: { notice, isUndone: true },
  };
}
