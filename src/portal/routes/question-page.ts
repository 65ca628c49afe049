/** The page that asks before something is done: see `page` of an action. */
import type { Clock } from '#shared/clock.ts';

import type { FormProblem, PortalPage } from '../page.ts';
import { html } from '../html.ts';
import { confirmation, type ConfirmationFacts } from '../shell/forms.ts';
import { errorSummary } from '../shell/notice.ts';
import type { Reader } from '../shell/times.ts';
import type { FormRequest } from './route-types.ts';

/** What is asked. The way out leads to the last of the crumbs. */
export type Question = Pick<PortalPage, 'section' | 'title'> &
  Omit<ConfirmationFacts, 'action' | 'person' | 'cancel'> & {
    crumbs: readonly { href: string; text: string }[];
    /** What did not happen when the form comes back, such as `Not revoked`. */
    failed: string;
    /** Those of the request in other words. */
    problems?: readonly FormProblem[];
    /** Such as `Keep it`; default `Cancel`. */
    wayOut?: string;
  };

/** Who is asked, and what was typed and is wrong when the form came back. */
export type QuestionRequest<Params = unknown, Query = unknown> = FormRequest<Params, Query> & {
  reader: Reader;
};

/** The question, and when its form came back the same with what is wrong; or a page why nothing can be done. */
export function questionPage<Params, Query>(
  { clock }: { clock: Pick<Clock, 'now'> },
  ask: (request: QuestionRequest<Params, Query>) => Promise<Question | PortalPage>,
): (request: FormRequest<Params, Query>) => Promise<PortalPage> {
  return async (request) => {
    const { person, path: action } = request;
    const reader = { timeZone: person.timeZone, nowMs: clock.now() };
    const question = await ask({ ...request, reader });
    if ('body' in question) return question;
    const { title, section, crumbs, failed, wayOut = 'Cancel', ...rest } = question;
    const { problems = request.problems, ...given } = rest;
    const cancel = { href: crumbs.at(-1)?.href ?? '', text: wayOut };
    const summary = problems.length > 0 && errorSummary({ heading: failed, problems });
    const body = html`${summary}${confirmation({ ...given, action, person, cancel })}`;
    return { title, section, crumbs, body };
  };
}
