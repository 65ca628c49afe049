/**
 * An action as its section describes it: a form, and what it does by a POST that leads to a page by 303. Who may not do
 * it, or comes from elsewhere, is refused before the form is read.
 */
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { Session } from '#access/sessions/sessions.ts';
import type { Scope } from '#access/tokens.ts';
import { actorOf } from '#http/auth/bearer.ts';
import { hangUpOf, type HttpApp } from '#http/context.ts';
import type { Actor } from '#shared/audit.ts';
import { MINUTE } from '#shared/clock.ts';
import { sha256Aside } from '#shared/crypto/hash.ts';
import { type FieldProblem, isTrackportError, TrackportError } from '#shared/errors.ts';
import { problems as knownProblems } from '#shared/outcomes/problems.ts';
import type { PortalContext } from '../context.ts';
import type { Once, PortalPage } from '../page.ts';
import { withParameter } from '../paths.ts';
import { type Confirmation, confirmationPage } from './confirmation.ts';
import { fieldsOf, FORM_BYTES_MAX, formIdOf, formTokenOf } from './form-bodies.ts';
import { addPageRoute, type PortalRoute } from './page-route.ts';
import {
  checkInput,
  type NoFields,
  ONCE_PARAMETER,
  openRequest,
  type PageSchemas,
  PORTAL_HEADERS,
  PORTAL_ROUTE,
  PortalRefusal,
  type PortalRequest,
  queryOf,
  refuseOtherOrigins,
  requireActor,
  schemaOf,
  sendPage,
  sessionOf,
} from './portal-request.ts';

/** A request as actions get it: the form fits its schema. */
export type ActionRequest<Form = unknown, Params = unknown> = PortalRequest<Params> & {
  /** For use cases: who does it, by which request. */
  origin: { actor: Actor; requestId: string; signal: AbortSignal };
  form: Form;
};

/** Result of an action: a page of the portal, with what it shows once. */
export type ActionResult = Once & { location: string };

type Action<
  Form extends z.ZodType,
  Params extends z.ZodType,
  Query extends z.ZodType,
> = PageSchemas<Params, Query> & {
  path: string;
  /** Default: a session is enough. */
  scope?: Scope;
  /** Of the fields, each a text, or a list when it came several times; an empty field is ''. */
  form?: Form;
  /** Default 64 KiB. */
  formBytesMax?: number;
  /** The page with the form, at the same address. A form that did not fit stands on it again. */
  page?: Show<Params, Query>;
  /** In place of `page`: what is confirmed there, or a page why nothing can be done. */
  confirm?: Show<Params, Query, Confirmation>;
  /**
   * The page on which a form that did not fit stands again, where it is another one than `page`. A form
   * does not fit when its schema refuses it, or the use case does with 400, 409, 412 or 422. Without
   * either page such an error is shown on the page for errors.
   */
  onProblems?: Show<Params, Query>;
  run: (
    context: PortalContext,
    request: ActionRequest<z.output<Form>, z.output<Params>>,
  ) => Promise<ActionResult>;
};

type Show<Params extends z.ZodType, Query extends z.ZodType, More = never> = (
  context: PortalContext,
  request: PortalRequest<z.output<Params>, z.output<Query>>,
) => Promise<PortalPage | More>;

/** One action, with the page that its form stands on. */
export function action<
  Form extends z.ZodType = NoFields,
  Params extends z.ZodType = NoFields,
  Query extends z.ZodType = NoFields,
>(given: Action<Form, Params, Query>): PortalRoute {
  const { path, scope, confirm } = given;
  const show = confirm ? confirmationPage(confirm) : given.page;
  return {
    path,
    scope,
    methods: show ? ['GET', 'POST'] : ['POST'],
    add: (app, context) => {
      if (show) addPageRoute(app, context, { ...given, show });
      addActionRoute(app, context, { ...given, onProblems: given.onProblems ?? show });
    },
  };
}

function addActionRoute<Form extends z.ZodType, Params extends z.ZodType, Query extends z.ZodType>(
  app: HttpApp,
  context: PortalContext,
  action: Action<Form, Params, Query>,
): void {
  const { scope, formBytesMax = FORM_BYTES_MAX } = action;
  const onRequest = async (request: FastifyRequest): Promise<void> => {
    refuseOtherOrigins(request, context.publicUrl());
    await requireActor(context, request, scope);
  };
  const route = { ...PORTAL_ROUTE, bodyLimit: formBytesMax, onRequest };
  app.post(action.path, route, async (request, reply) => {
    const outcome = await runAction(context, request, action);
    if ('page' in outcome) return sendPage(context, { request, reply }, outcome.page);
    return reply.headers(PORTAL_HEADERS).redirect(outcome.location, 303);
  });
}

type Outcome = { page: PortalPage } | { location: string };

const FORM_STATUSES: ReadonlySet<number> = new Set([400, 409, 412, 422]);

/**
 * Checks the form and runs the action; what its sender can mend brings the form back.
 * @throws {PortalRefusal} the form is not one of this session @throws {not-found} @throws what is not about the form
 */
async function runAction<Form extends z.ZodType, Params extends z.ZodType, Query extends z.ZodType>(
  context: PortalContext,
  request: FastifyRequest,
  { onProblems, run, ...schemas }: Action<Form, Params, Query>,
): Promise<Outcome> {
  const isStale = isOfEarlierSession(context, request, onProblems !== undefined);
  const session = sessionOf(request);
  const typed = fieldsOf(request);
  const { seen } = typed;
  const seenBefore = isStale && typeof seen === 'string' ? seen : undefined;
  const opened = openRequest(context, request, schemaOf(schemas.params));
  const sent = { ...opened, typed, seenBefore, query: queryOf({}, schemaOf(schemas.query)) };
  const back = async (error: TrackportError): Promise<Outcome> => {
    if (!onProblems || !FORM_STATUSES.has(knownProblems[error.code].status)) throw error;
    const { code, detail = code, errors } = error;
    const wrong = errors?.map(toFormWords) ?? [{ code, detail }];
    const page = await onProblems(context, { ...sent, problems: wrong });
    return { page: { status: isStale ? 403 : 422, hasProblems: true, ...page } };
  };
  if (isStale) return back(signedInAnew);
  const checked = checkInput(schemaOf(schemas.form), 'body', typed);
  if ('problems' in checked)
    return back(new TrackportError('validation-failed', { errors: checked.problems }));
  const signal = hangUpOf(request);
  const origin = { actor: actorOf(session.principal), requestId: request.id, signal };
  const work = async (): Promise<string> => {
    const result = await run(context, { ...sent, problems: [], origin, form: checked.value });
    return locationOf(context, session, result);
  };
  try {
    return { location: await doIdempotently(context, request, work) };
  } catch (error) {
    if (isTrackportError(error)) return back(error);
    throw error;
  }
}

/** A field of a form has its label before it: its name in the code goes, and members of a list are counted. */
function toFormWords(problem: FieldProblem): FieldProblem {
  const detail = problem.detail
    .replace(/^`\w+\.(\d+)`/, (_name, at: string) => `No. ${Number(at) + 1}`)
    .replace(/^`[^`]*`: (?=\p{Lu})/u, '')
    .replace(/^`\w+` (?=must |has |is required)/, 'It ');
  return { ...problem, detail };
}

/**
 * From a page of ours, as the browser says, that the same person had: what was typed is shown again, not done.
 * @throws {PortalRefusal} from any other
 */
function isOfEarlierSession(
  { formTokens }: PortalContext,
  request: FastifyRequest,
  canComeBack: boolean,
): boolean {
  const [session, token] = [sessionOf(request), formTokenOf(request)];
  if (formTokens.fits(session, token)) return false;
  const isTheirs = request.headers.origin !== undefined && formTokens.isOfPerson(session, token);
  if (!canComeBack || !isTheirs) throw new PortalRefusal('stale-form');
  return true;
}

const signedInAnew = new TrackportError('validation-failed', {
  errors: [
    {
      code: 'signed-in-anew',
      detail:
        'Your session ended while you filled this in. Nothing was done: look at it, then send it again.',
    },
  ],
});

/** Gives what is shown once an id in the address, so that two tabs do not mix theirs up. */
async function locationOf(
  { sessions }: PortalContext,
  session: Session,
  { location, ...once }: ActionResult,
): Promise<string> {
  if (once.notice === undefined && once.secret === undefined) return location;
  return withParameter(location, ONCE_PARAMETER, await sessions.putOnce(session, once));
}

/**
 * Does `work` and returns the address that it leads to. The same form once more within a minute, as by a second click,
 * leads there without work; later somebody went back to its page, and means it. One that failed, or came back, can be
 * sent again, and so can one whose page was lost by a crash right behind its work: what that made stands in its list,
 * without a secret that anybody saw. A form without an id is done each time.
 * @throws what `work` throws
 */
async function doIdempotently(
  { idempotency }: PortalContext,
  request: FastifyRequest,
  work: () => Promise<string>,
): Promise<string> {
  const formId = formIdOf(request);
  if (formId === undefined) return work();
  const { principal, digest } = sessionOf(request);
  const { subject, workspaceId } = principal;
  const sender = JSON.stringify([subject, digest.toString('base64')]);
  const key = JSON.stringify([formId, await tellingFieldsOf(request)]);
  const { response } = await idempotency.respond(
    {
      workspaceId,
      principal: sender,
      route: `POST ${request.url}`,
      key,
      payload: undefined,
      repeatableMs: MINUTE,
    },
    {
      work: async () => ({ status: 303, headers: { location: await work() }, body: '' }),
      waitsForFirst: true,
    },
  );
  const { location = '' } = response.headers;
  return location;
}

/** Tell a form from one that was changed and sent again. A spec among them, which may be long, is its digest. */
function tellingFieldsOf(request: FastifyRequest): Promise<unknown[]> {
  const fields = Object.entries(fieldsOf(request)).map(async ([name, value]) => [
    name,
    value.length > FORM_BYTES_MAX ? await sha256Aside(String(value)) : value,
  ]);
  return Promise.all(fields);
}
