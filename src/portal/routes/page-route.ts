/**
 * A page as its section describes it, and the GET that is made of it. Before it is shown the person, the scope and all
 * that the address brings were checked.
 */
import type { z } from 'zod';
import type { FastifyRequest } from 'fastify';
import { requireScope, type Scope } from '#access/tokens.ts';
import { SIGN_IN_GOOD_MS } from '#access/sessions/sessions.ts';
import type { HttpApp } from '#http/context.ts';
import { HOUR } from '#shared/clock.ts';
import { type FieldProblem, isTrackportError } from '#shared/errors.ts';
import type { PortalContext } from '../context.ts';
import type { Once, PortalFile, PortalPage } from '../page.ts';
import { type HeldForm, problemOf } from '../shell/forms.ts';
import { confirmAtIssuer } from '../sign-in/sign-in.ts';
import {
  checkInput,
  isReload,
  type NoFields,
  ONCE_PARAMETER,
  openRequest,
  type PageSchemas,
  PORTAL_ROUTE,
  type PortalRequest,
  queryOf,
  RELOAD_PARAMETER,
  requireSession,
  schemaOf,
  type Search,
  sendFile,
  sendPage,
  sessionOf,
} from './portal-request.ts';

/** A page, an action or both at one address: `page` and `action` make them, the portal adds them. */
export type PortalRoute = {
  path: string;
  scope: Scope | undefined;
  methods: readonly ('GET' | 'POST')[];
  add: (app: HttpApp, context: PortalContext) => void;
};

type Page<Params extends z.ZodType, Query extends z.ZodType> = PageSchemas<Params, Query> & {
  path: string;
  /** Default: a session is enough. */
  scope?: Scope;
  /** A filter that does not fit is left out, and said above the list; else the address is refused. */
  isList?: true;
  show: (
    context: PortalContext,
    request: PortalRequest<z.output<Params>, z.output<Query>>,
  ) => Promise<PortalPage | PortalFile>;
};

/** One page, or a file in its place. */
export function page<Params extends z.ZodType = NoFields, Query extends z.ZodType = NoFields>(
  given: Page<Params, Query>,
): PortalRoute {
  return {
    path: given.path,
    scope: given.scope,
    methods: ['GET'],
    add: (app, context) => addPageRoute(app, context, given),
  };
}

export function addPageRoute<Params extends z.ZodType, Query extends z.ZodType>(
  app: HttpApp,
  context: PortalContext,
  { path, scope, isList, show, ...schemas }: Page<Params, Query>,
): void {
  const { sessions } = context;
  const [params, query] = [schemaOf(schemas.params), schemaOf(schemas.query)];
  const onRequest = async (request: FastifyRequest): Promise<void> => {
    await requireSession(context, request);
  };
  const route = { ...PORTAL_ROUTE, onRequest };
  app.get<{ Querystring: Search }>(path, route, async (request, reply) => {
    const { [ONCE_PARAMETER]: onceId, [RELOAD_PARAMETER]: _reload, ...search } = request.query;
    const session = sessionOf(request);
    const first = await onceLeft(context, request, onceId);
    // The page that a form led to is part of that: what it shows once is not risked.
    const isOld = isReload(request) ? sessions.isTooOldToAct : sessions.isToBeConfirmed;
    const isToConfirm = first === undefined && isOld(session);
    const away = isToConfirm ? await confirmAtIssuer(context, { request, reply }) : undefined;
    if (away) return away;
    if (scope !== undefined) requireScope(session.principal, scope);
    const opened = openRequest(context, request, params);
    const showWith = (more: HeldForm & { query: z.output<Query> }) =>
      show(context, { ...opened, ...more });
    const shown = isList
      ? await showList(search, query, showWith)
      : await showWith({ query: queryOf(search, query), typed: {}, problems: [] });
    if ('content' in shown) return sendFile(reply, shown);
    if (isToConfirm) return sendPage(context, { request, reply }, shown, unconfirmed(context));
    // Taken now that there is a page to show it on: one that fails can be asked for again.
    const once = first === undefined ? undefined : await sessions.takeOnce(session, first);
    return sendPage(context, { request, reply }, shown, once as Once | undefined);
  });
}

/** The id in the address of what is shown once, while nobody was shown it; a HEAD shows nothing. */
async function onceLeft(
  { sessions }: PortalContext,
  request: FastifyRequest,
  id: unknown,
): Promise<string | undefined> {
  if (request.method !== 'GET' || typeof id !== 'string') return undefined;
  return (await sessions.hasOnce(sessionOf(request), id)) ? id : undefined;
}

function unconfirmed({ issuer }: PortalContext): Once {
  const notice = `${new URL(issuer).host} cannot be reached to confirm that you are still signed in there. Until then you see what you may; forms count for ${SIGN_IN_GOOD_MS / HOUR} hours after it did.`;
  return { notice, isUndone: true };
}

type Show<Query> = (input: HeldForm & { query: Query }) => Promise<PortalPage | PortalFile>;

/**
 * The list without the filters that its schema or its use case refuses, with what was typed still in
 * their fields. It shows more than was asked for, so it offers nothing that works on all that it shows.
 */
async function showList<Query extends z.ZodType>(
  search: Search,
  schema: Query,
  show: Show<z.output<Query>>,
): Promise<PortalPage | PortalFile> {
  const showWithout = async (problems: readonly FieldProblem[]) => {
    const [wrong, right] = partition(search, (name) => problemOf(problems, name) !== undefined);
    const typed = Object.entries(wrong).map(([name, value]) => [
      name,
      String(value).slice(0, TYPED_SHOWN),
    ]);
    const input = { typed: Object.fromEntries(typed), problems };
    return withLeftOut(await show({ query: queryOf(right, schema), ...input }), problems);
  };
  const checked = checkInput(schema, 'querystring', search);
  const known = 'value' in checked ? [] : checked.problems;
  try {
    return await showWithout(known);
  } catch (error) {
    const found = isTrackportError(error, 'validation-failed') ? (error.errors ?? []) : [];
    if (found.length === 0) throw error;
    return showWithout([...known, ...found]);
  }
}

/** Characters of what was typed: the rest of a longer text is no use to anybody. */
const TYPED_SHOWN = 100;

function partition(search: Search, isFirst: (name: string) => boolean): [Search, Search] {
  const { first = [], second = [] } = Object.groupBy(Object.entries(search), ([name]) =>
    isFirst(name) ? 'first' : 'second',
  );
  return [Object.fromEntries(first), Object.fromEntries(second)];
}

function withLeftOut(shown: PortalPage | PortalFile, problems: readonly FieldProblem[]) {
  if ('content' in shown || problems.length === 0) return shown;
  const { actions: _actions, ...wider } = shown;
  const details = problems.map(({ detail }) => detail).join(' ');
  const notice = `Shown without a filter that is wrong: ${details}`;
  return { ...wider, status: 400, hasProblems: true, notice };
}
