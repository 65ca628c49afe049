import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';

import type { Session } from '#access/sessions/session.ts';
import type { Sessions } from '#access/sessions/sessions.ts';
import { actorOf } from '#http/auth/bearer.ts';
import { hangUpOf } from '#http/requests/hang-up.ts';
import { problemKinds } from '#http/problems/problem.ts';
import { isTrackportError, TrackportError } from '#shared/errors.ts';

import type { PortalPage, TypedFields } from '../page.ts';
import type { PortalPerson } from '../person.ts';
import { checkInput, nothing } from './check-input.ts';
import type { ActionRequest, ActionResult, FormRequest } from './route-types.ts';
import { withParameter } from './return-path.ts';
import { ONCE_PARAMETER } from './send-page.ts';

/** An action that is allowed to run, with what its request brought. */
export type ActionRun = {
  sessions: Pick<Sessions, 'putOnce'>;
  request: FastifyRequest;
  session: Session;
  /** The form is of an earlier session. */
  isStale: boolean;
  path: string;
  person: PortalPerson;
  params: unknown;
  typed: TypedFields;
  form: z.ZodType | undefined;
  onProblems: ((request: FormRequest) => Promise<PortalPage>) | undefined;
  /** Sees to it that the work is done once; see `submitOnce`. */
  around: ((work: () => Promise<string>) => Promise<string>) | undefined;
};

type ActionOutcome = { kind: 'problems'; page: PortalPage } | { kind: 'done'; location: string };

/** Checks the form and runs the action. @throws what is not about the form */
export async function runAction(
  run: ActionRun,
  handler: (request: ActionRequest<unknown, unknown>) => Promise<ActionResult>,
): Promise<ActionOutcome> {
  const { request, session, person, params, typed } = run;
  if (run.isStale) return backToForm(run, signedInAnew);
  const checked = checkInput(run.form ?? nothing, 'body', typed);
  if (checked.kind === 'bad')
    return backToForm(run, new TrackportError('validation-failed', { errors: checked.problems }));
  try {
    const [requestId, signal] = [request.id, hangUpOf(request)];
    const origin = { actor: actorOf(session.principal), requestId, signal };
    const work = async (): Promise<string> =>
      locationOf(run, await handler({ person, origin, session, params, form: checked.value }));
    return { kind: 'done', location: await (run.around ? run.around(work) : work()) };
  } catch (error) {
    if (isTrackportError(error)) return backToForm(run, error);
    throw error;
  }
}

/** What a form that was filled in before the sign-in comes back with. */
export const SIGNED_IN_ANEW = 'signed-in-anew';

const signedInAnew = new TrackportError('validation-failed', {
  errors: [
    {
      code: SIGNED_IN_ANEW,
      detail:
        'Your session ended while you filled this in. Nothing was done: look at it, then send it again.',
    },
  ],
});

const FORM_STATUSES: ReadonlySet<number> = new Set([400, 409, 412, 422]);

/** The form again, for what its sender can mend there. @throws anything else */
async function backToForm(run: ActionRun, error: TrackportError): Promise<ActionOutcome> {
  const { onProblems, path, person, session, params, typed } = run;
  if (!onProblems || !FORM_STATUSES.has(problemKinds[error.code].status)) throw error;
  const problems = error.errors ?? [{ code: error.code, detail: error.detail ?? error.code }];
  const page = await onProblems({
    path,
    person,
    session,
    params,
    query: undefined,
    typed,
    problems,
  });
  return {
    kind: 'problems',
    page: { status: run.isStale ? 403 : 422, hasProblems: true, ...page },
  };
}

/** What is shown once has an id of its own in the address, so that two tabs do not mix theirs up. */
async function locationOf(
  { sessions, session }: ActionRun,
  { location, ...once }: ActionResult,
): Promise<string> {
  if (once.notice === undefined && once.secret === undefined) return location;
  const id = await sessions.putOnce(session, once);
  return withParameter(location, ONCE_PARAMETER, id);
}
