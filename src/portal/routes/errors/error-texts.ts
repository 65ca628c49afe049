/** Texts of error codes for people. The errors carry texts of their own, for those who write clients. */
import type { ErrorCode } from '#shared/errors.ts';

import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { code } from '../../shell/parts.ts';
import type { RefusalFacts } from '../../shell/refusal.ts';

export type ErrorText = Pick<RefusalFacts, 'heading' | 'text' | 'nextStep'>;

const TRY_AGAIN: ErrorText = { nextStep: 'wait a few seconds, then try again.' };
const LOOK_AGAIN: ErrorText = { nextStep: 'go back, and look at the state it has now.' };

/** By code. What a text leaves out is said by the error itself, else by its code. */
export const errorTexts: Readonly<Partial<Record<ErrorCode, ErrorText>>> = {
  'validation-failed': { nextStep: 'open the page anew, and choose there.' },
  'invalid-cursor': {
    heading: 'This part of the list cannot be shown',
    text: 'Its address was cut short or changed, or comes from another version of this service.',
    nextStep: 'open the list from its start, and filter it there.',
  },
  'artifact-not-found': {
    text: 'There is no such artifact in your workspace, or it has no such version.',
    nextStep: 'look for it in the catalog.',
  },
  'not-found': { nextStep: 'look for it in its list, or begin at the overview.' },
  'method-not-allowed': {
    heading: 'This address takes nothing like this',
    text: 'Nothing was changed.',
    nextStep: 'open the page, and use what it offers.',
  },
  'unsupported-media-type': {
    text: 'The portal takes forms as browsers send them.',
    nextStep: 'send the form from its page.',
  },
  'payload-too-large': {
    heading: 'The form is too large',
    text: 'It holds more than is taken here. Nothing was changed.',
    nextStep: 'go back, and shorten what is in it.',
  },
  'invalid-lifecycle-transition': LOOK_AGAIN,
  'not-a-draft': LOOK_AGAIN,
  'no-published-version': LOOK_AGAIN,
  'precondition-failed': LOOK_AGAIN,
  'idempotency-in-progress': {
    text: 'The same form is still being worked on.',
    nextStep: 'look at the list before you send it again.',
  },
  'request-timeout': TRY_AGAIN,
  'quota-exceeded': TRY_AGAIN,
  'tracker-unavailable': TRY_AGAIN,
  'identity-provider-unavailable': TRY_AGAIN,
  'store-unavailable': TRY_AGAIN,
  overloaded: TRY_AGAIN,
  'internal-error': {
    nextStep: 'try once more. If it stays so, tell whoever runs this service the request below.',
  },
};

/** The text of an error; what it puts between backticks is code. */
export function prose(text: string): Html {
  return html`${text.split('`').map((part, at) => (at % 2 === 0 ? part : code(part)))}`;
}
