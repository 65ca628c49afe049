import { randomBytes } from 'node:crypto';
import type { Session } from '#access/sessions/session.ts';
import { isTrackportError } from '#shared/errors.ts';
import type { PortalContext } from '../context.ts';
import type { TypedFields } from '../page.ts';

/** The hidden field of forms that are done once. */
const FORM_ID_FIELD = 'formId';
const FORM_ID = /^[\w-]{22}$/;
/** While the first of two is under way the other waits, in steps. */
const STEP_MS = 100;
const STEPS_MAX = 100;

/** Of a form on one page: 128 random bits. */
export function newFormId(): string {
  return randomBytes(16).toString('base64url');
}

/** A form as it was sent to `path`. */
type SentForm = {
  session: Pick<Session, 'digest' | 'principal'>;
  path: string;
  typed: TypedFields;
};

/**
 * Where `work` leads. The same form once more, in whatever instance, leads there without work; one that
 * failed, or came back, can be sent again. A form without an id is done each time.
 * @throws what `work` throws @throws {idempotency-in-progress} the first takes over ten seconds
 */
export async function submitOnce(
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
      const { response } = await idempotency.once(request, {
        work,
        render: (location) => ({ status: 303, headers: {}, body: location }),
      });
      return response.body;
    } catch (error) {
      if (step === STEPS_MAX || !isTrackportError(error, 'idempotency-in-progress')) throw error;
      await clock.sleep(STEP_MS);
    }
}
