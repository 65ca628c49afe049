import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { Session } from '#access/sessions/sessions.ts';
import { actorOf } from '#http/auth/bearer.ts';
import { problems } from '#shared/outcomes/problems.ts';
import { hangUpOf, type HttpApp } from '#http/context.ts';
import { isTrackportError, TrackportError } from '#shared/errors.ts';
import { withParameter } from '../address.ts';
import type { PortalContext } from '../context.ts';
import type { PortalPage, TypedFields } from '../page.ts';
import { FORM_ID_FIELD } from '../shell/forms.ts';
import { fieldsOf, formTokenOf, FORM_BYTES_MAX } from './form-bodies.ts';
import {
  checkInput,
  toFormWords,
  PortalRefusal,
  portalRequestOf,
  sessionOf,
  refuseOtherOrigins,
  requireActor,
} from './portal-request.ts';
import { nothing, type Action, type ActionResult, type FormRequest } from './page-actions.ts';
import { ONCE_PARAMETER, PORTAL_HEADERS, PORTAL_ROUTE, sendPage } from './send-page.ts';

export type AnyAction = Action<z.ZodType, z.ZodType, z.ZodType>;

type ActionOutcome = { kind: 'problems'; page: PortalPage } | { kind: 'done'; location: string };

/** The POST of an action. Who may not do it, or comes from elsewhere, is refused before the form is read. */
export function addActionRoute(
  app: HttpApp,
  context: PortalContext,
  path: string,
  action: AnyAction,
): void {
  const { scope, formBytesMax = FORM_BYTES_MAX } = action;
  const onRequest = async (request: FastifyRequest): Promise<void> => {
    refuseOtherOrigins(request, context.publicUrl());
    await requireActor(context, request, scope);
  };
  const route = { ...PORTAL_ROUTE, bodyLimit: formBytesMax, onRequest };
  app.post(path, route, async (request, reply) => {
    const outcome = await runAction(context, request, action);
    if (outcome.kind === 'problems') return sendPage(context, { request, reply }, outcome.page);
    return reply.headers(PORTAL_HEADERS).redirect(outcome.location, 303);
  });
}

/**
 * Checks the form and runs the action.
 * @throws {PortalRefusal} the form is not one of this session @throws {not-found} @throws what is not about the form
 */
async function runAction(
  context: PortalContext,
  request: FastifyRequest,
  action: AnyAction,
): Promise<ActionOutcome> {
  const { params = nothing, form = nothing, page, onProblems = page, doneOnce } = action;
  const isStale = isOfEarlierSession(context, request, onProblems !== undefined);
  const sent = { ...portalRequestOf(context, request, params), typed: fieldsOf(request) };
  const { session, typed } = sent;
  const { seen } = typed;
  const seenBefore = isStale && typeof seen === 'string' ? seen : undefined;
  const back = (error: TrackportError) =>
    backToForm({ ...sent, seenBefore, onProblems, isStale }, error);
  if (isStale) return back(signedInAnew);
  const checked = checkInput(form, 'body', typed);
  if ('problems' in checked)
    return back(new TrackportError('validation-failed', { errors: checked.problems }));
  const signal = hangUpOf(request);
  const origin = { actor: actorOf(session.principal), requestId: request.id, signal };
  const work = async (): Promise<string> => {
    const result = await action.run({ ...sent, origin, form: checked.value });
    return locationOf(context, session, result);
  };
  try {
    const submitted = { session, path: request.url, typed };
    const location = doneOnce === true ? await submitOnce(context, submitted, work) : await work();
    return { kind: 'done', location };
  } catch (error) {
    if (isTrackportError(error)) return back(error);
    throw error;
  }
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

const FORM_STATUSES: ReadonlySet<number> = new Set([400, 409, 412, 422]);

type Sent = Omit<FormRequest, 'query' | 'problems'> & {
  onProblems: ((request: FormRequest) => Promise<PortalPage>) | undefined;
  isStale: boolean;
};

/** The form again, for what its sender can mend there. @throws anything else */
async function backToForm(
  { onProblems, isStale, ...sent }: Sent,
  error: TrackportError,
): Promise<ActionOutcome> {
  if (!onProblems || !FORM_STATUSES.has(problems[error.code].status)) throw error;
  const { code, detail = code } = error;
  const wrong = error.errors?.map(toFormWords) ?? [{ code, detail }];
  const page = await onProblems({ ...sent, query: undefined, problems: wrong });
  return { kind: 'problems', page: { status: isStale ? 403 : 422, hasProblems: true, ...page } };
}

/** Gives what is shown once an id in the address, so that two tabs do not mix theirs up. */
async function locationOf(
  { sessions }: PortalContext,
  session: Session,
  { location, ...once }: ActionResult,
): Promise<string> {
  if (once.notice === undefined && once.secret === undefined) return location;
  return withParameter(location, ONCE_PARAMETER, await sessions.putOnce(session, once));
}

const FORM_ID = /^[\w-]{22}$/;
/** While the first of two is under way the other waits, in steps. */
const STEP_MS = 100;
const STEPS_MAX = 100;

/** A form as it was sent to `path`. */
type SentForm = {
  session: Pick<Session, 'digest' | 'principal'>;
  path: string;
  typed: TypedFields;
};

/**
 * Does `work` and returns the address that it leads to. The same form once more, in whatever instance, leads there
 * without work; one that failed, or came back, can be sent again. A form without an id is done each time.
 * @throws what `work` throws @throws {idempotency-in-progress} the first takes over ten seconds
 */
async function submitOnce(
  { idempotency, clock }: PortalContext,
  { session, path, typed }: SentForm,
  work: () => Promise<string>,
): Promise<string> {
  const { [FORM_ID_FIELD]: formId, ...payload } = typed;
  if (typeof formId !== 'string' || !FORM_ID.test(formId)) return work();
  const { subject, workspaceId } = session.principal;
  const principal = JSON.stringify([subject, session.digest.toString('base64')]);
  const request = { workspaceId, principal, route: `POST ${path}`, key: formId, payload };
  for (let step = 1; ; step += 1)
    try {
      const { response } = await idempotency.respond(request, {
        work,
        render: (location) => ({ status: 303, headers: {}, body: location }),
      });
      return response.body;
    } catch (error) {
      if (step === STEPS_MAX || !isTrackportError(error, 'idempotency-in-progress')) throw error;
      await clock.sleep(STEP_MS);
    }
}
