/** Pages about a sign-in that did not work: what happened, and who can do what about it. */
import type { SignInFailure, SignInFailureKind } from '#access/sessions/issuer-client.ts';
import { problemKinds } from '#http/problems/problem.ts';
import type { ErrorCode } from '#shared/errors.ts';

import { html } from '../html.ts';
import type { HtmlValue } from '../html.ts';
import { renderLoneRefusal } from '../shell/lone.ts';
import { link } from '../shell/parts.ts';

export type FailurePageFacts = {
  failure: SignInFailure;
  /** `owner/name`. */
  repository: string;
  /** Host of the issuer. */
  issuer: string;
  /** What the client must be registered with at the issuer. */
  redirectUri: string;
  /** What access tokens must be for. */
  audience: string;
  /** Begins the sign-in again. */
  startPath: string;
  requestId: string;
  atMs: number;
};

type Words = { code: ErrorCode; heading: string; text: HtmlValue; nextStep: HtmlValue };

/** Status and whole document. */
export function failurePage(facts: FailurePageFacts): { code: ErrorCode; document: string } {
  const { repository, startPath, requestId, atMs } = facts;
  const words = wordsOf[facts.failure.kind](facts);
  const code = codeOf(facts.failure, words.code);
  const actions = link({ href: startPath, text: 'Try again', look: 'primary' });
  const document = renderLoneRefusal({ ...words, code, repository, requestId, atMs, actions });
  return { code, document };
}

/** What anybody can make up by an address is not a failure of a server. */
function codeOf({ isFromBrowser }: SignInFailure, code: ErrorCode): ErrorCode {
  return isFromBrowser && problemKinds[code].status >= 500 ? 'bad-request' : code;
}

const wordsOf: Readonly<Record<SignInFailureKind, (facts: FailurePageFacts) => Words>> = {
  denied: ({ issuer, failure }) => ({
    code: 'insufficient-scope',
    heading: 'You were not signed in',
    text: html`The sign-in at ${issuer} ended without consent (<code>${failure.reason}</code>): you
    said no, or your organisation does.`,
    nextStep: html`try again and agree, or ask the people who run the sign-in at ${issuer}.`,
  }),
  'interaction-required': ({ issuer, failure }) => ({
    code: 'insufficient-scope',
    heading: 'You were not signed in',
    text: html`${issuer} wants to see you first (<code>${failure.reason}</code>): a sign-in there, a
    choice of account, or a second factor is missing.`,
    nextStep: html`try again and follow what ${issuer} shows.`,
  }),
  ended: ({ issuer, failure }) => ({
    code: 'bad-request',
    heading: 'The sign-in was not completed',
    text: html`${issuer} ended it with an error that the standard does not know
    (<code>${failure.reason}</code>).`,
    nextStep: html`try again. When it stays so, ask the people who run the sign-in at ${issuer}.`,
  }),
  unavailable: ({ issuer, failure }) => ({
    code: 'identity-provider-unavailable',
    heading: 'The sign-in cannot be reached',
    text: html`${issuer} does not respond as it should (<code>${failure.reason}</code>). Nothing is
    wrong with your account, and whoever is signed in stays so.`,
    nextStep: 'try again in a minute.',
  }),
  'client-refused': ({ issuer, failure, redirectUri }) => ({
    code: 'identity-provider-unavailable',
    heading: 'The sign-in is not set up right',
    text: html`${issuer} does not accept this portal: <code>${failure.reason}</code>.`,
    nextStep: html`an operator compares <code>portal.clientId</code>,
      <code>portal.clientSecret</code> and <code>portal.scopes</code> with the client at ${issuer},
      and its redirect URI with <code>${redirectUri}</code>.`,
  }),
  'grant-refused': () => ({
    code: 'bad-request',
    heading: 'This sign-in is over',
    text: 'It was completed already, or took too long.',
    nextStep: 'sign in again.',
  }),
  clock: ({ issuer }) => ({
    code: 'identity-provider-unavailable',
    heading: 'Two clocks do not agree',
    text: html`By the clock of this server, what ${issuer} just signed is not valid now.`,
    nextStep: html`an operator sets the clock of the server right; up to
      <code>identity.clockTolerance</code> is tolerated.`,
  }),
  'invalid-response': ({ issuer, failure }) => ({
    code: 'identity-provider-unavailable',
    heading: 'The sign-in gave no usable response',
    text: html`What ${issuer} sent does not fit what was requested (<code>${failure.reason}</code>).`,
    nextStep: 'try again. When it stays so, an operator looks at the log of this service.',
  }),
  'wrong-token': ({ issuer, audience }) => ({
    code: 'insufficient-scope',
    heading: 'The sign-in gave no access to Trackport',
    text: html`You are known to ${issuer}, but the access token from there is not one for
      <code>${audience}</code>.`,
    nextStep: html`an operator has ${issuer} give the client signed access tokens (JWT) with the
      audience <code>${audience}</code>.`,
  }),
  'lost-attempt': () => ({
    code: 'bad-request',
    heading: 'This browser knows nothing of that sign-in',
    text: html`It began in another browser or at another address, more than ten minutes ago, or
    cookies are refused.`,
    nextStep: 'sign in again, in one go.',
  }),
};
