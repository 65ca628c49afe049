import type { SignInFailure, SignInFailureKind } from '#access/sessions/issuer-client.ts';
import { SESSION_IDLE_MS, SESSION_MS, SIGN_IN_GOOD_MS } from '#access/sessions/sessions.ts';
import { problems } from '#shared/outcomes/problems.ts';
import { HOUR, MINUTE } from '#shared/clock.ts';
import type { ErrorCode } from '#shared/errors.ts';
import type { PortalContext } from '../context.ts';
import { html, type Html, type HtmlValue } from '../html.ts';
import { body, remark } from '../shell/card.ts';
import { renderLonePage, renderLoneRefusal } from '../shell/frame.ts';
import { cut, link, type State } from '../shell/elements.ts';

const LIMITS = `A session lasts ${SESSION_MS / HOUR} hours, and ${SESSION_IDLE_MS / MINUTE} minutes without use.`;
const CONFIRMED = `A form counts for ${SIGN_IN_GOOD_MS / HOUR} hours after the issuer said who you are.`;
const RETRY_AFTER_SECONDS = 30;

/** As people know it: its host. */
const issuerOf = ({ issuer }: Pick<PortalContext, 'issuer'>): string => new URL(issuer).host;

export function signInPage(context: PortalContext, returnTo: string, hadSession: boolean): string {
  return renderSignIn(context, returnTo, whySignIn(returnTo, hadSession));
}

/** A form came without a session, or with one that the issuer has not confirmed for too long. */
export function sendAgainPage(
  context: PortalContext,
  returnTo: string,
  why: 'no-session' | 'old-sign-in',
): string {
  const start = startOf(context.publicUrl(), '/portal');
  const { heading, limits } = {
    'no-session': { heading: 'your session ended', limits: LIMITS },
    'old-sign-in': { heading: 'your sign-in is too old', limits: CONFIRMED },
  }[why];
  return renderSignIn(context, returnTo, {
    state: 'warn',
    heading: `Nothing was done: ${heading}`,
    text: html`${limits} To keep what you typed:
      <b>sign in ${link(start, 'in another tab', { opensTab: true })}, then load this page again</b
      >. Your browser sends the form once more, and it comes back as you filled it in.`,
  });
}

/** The issuer was asked whether the person still is signed in there, and is not sure of it. */
export function signInAgainPage(context: PortalContext, returnTo: string): string {
  return renderSignIn(context, returnTo, {
    state: 'mute',
    heading: 'Your session ended',
    text: html`Once an hour ${issuerOf(context)} is asked whether you are still signed in there. It
    wants to see you again. ${backTo(returnTo)}`,
  });
}

export function signedOutPage(context: PortalContext): string {
  const text = 'Of Trackport, in this browser.';
  return renderSignIn(context, '/portal', { state: 'ok', heading: 'You are signed out', text });
}

/** Why the person is here: the session ended, it is signed out, the issuer refused. */
type Reason = { state: State; heading: string; text: HtmlValue };

/** Says on the page where the person is, why, and where the sign-in leads. */
function renderSignIn(
  context: Pick<PortalContext, 'repository' | 'issuer' | 'publicUrl'>,
  returnTo: string,
  reason?: Reason,
): string {
  const start = startOf(context.publicUrl(), returnTo);
  const content = html`<section class="card dialog" aria-labelledby="t">
    ${body(
      html`<h1 id="t">Sign in</h1>`,
      reason && remark(reason.state, reason.heading, reason.text),
      link(start, `Continue to ${issuerOf(context)}`, { look: 'primary' }),
      html`<p class="note">
        You sign in at your organisation; Trackport never sees a password. To see more than health
        you need one of the scopes <code>catalog:read</code> or <code>trackport:admin</code>.
      </p>`,
    )}
  </section>`;
  return renderLonePage('Sign in', context.repository, content);
}

/** With the whole address, so that it all happens at the one that the issuer leads back to. */
function startOf(publicUrl: string, returnTo: string): string {
  const query = returnTo === '/portal' ? '' : `?to=${encodeURIComponent(returnTo)}`;
  return `${publicUrl}/portal/sign-in/start${query}`;
}

function whySignIn(returnTo: string, hadSession: boolean): Reason | undefined {
  const back = backTo(returnTo);
  if (hadSession)
    return { state: 'mute', heading: 'Your session ended', text: html`${LIMITS} ${back}` };
  if (returnTo === '/portal') return undefined;
  return { state: 'mute', heading: 'This page needs a sign-in', text: back };
}

const backTo = (path: string): Html => html`After signing in you are at <code>${cut(path)}</code>.`;

/** `location`: where the browser is led at once. */
export function signingOutPage(context: PortalContext, location: string): string {
  const issuer = issuerOf(context);
  const content = html`<h1>Signed out of Trackport</h1>
    <p>You are led to ${issuer}, to be signed out there as well.</p>
    <p>${link(location, `Continue to ${issuer}`, { look: 'primary' })}</p>`;
  return renderLonePage('Signed out', context.repository, content);
}

/** A page about a sign-in that did not work: what happened, and who can do what about it. */
export function failedPage(context: PortalContext, failure: SignInFailure, requestId: string) {
  const publicUrl = context.publicUrl();
  const words = wordsOf[failure.kind]({
    issuer: issuerOf(context),
    reason: failure.reason,
    redirectUri: `${publicUrl}/portal/callback`,
    audience: context.audience,
  });
  const code = codeOf(failure, words.code);
  const again = link(startOf(publicUrl, '/portal'), 'Try again', { look: 'primary' });
  const document = renderLoneRefusal(context, { ...words, requestId, actions: again, code });
  const { status } = problems[code];
  return { status, document, ...(status === 503 && { retryAfterSeconds: RETRY_AFTER_SECONDS }) };
}

type Registration = {
  /** As the issuer says it. */
  reason: string;
  /** Host of the issuer. */
  issuer: string;
  /** The address that the client must be registered with at the issuer. */
  redirectUri: string;
  /** The audience of access tokens. */
  audience: string;
};

type FailureWords = { code: ErrorCode; heading: string; text: HtmlValue; nextStep: HtmlValue };

/** An address that anybody can make up is no failure of a server. */
function codeOf({ isFromBrowser }: SignInFailure, code: ErrorCode): ErrorCode {
  return isFromBrowser && problems[code].status >= 500 ? 'bad-request' : code;
}

const wordsOf: Readonly<Record<SignInFailureKind, (registration: Registration) => FailureWords>> = {
  denied: ({ issuer, reason }) => ({
    code: 'insufficient-scope',
    heading: 'You were not signed in',
    text: html`The sign-in at ${issuer} ended without consent (<code>${reason}</code>): you said no,
    or your organisation does.`,
    nextStep: html`try again and agree, or ask the people who run the sign-in at ${issuer}.`,
  }),
  'interaction-required': ({ issuer, reason }) => ({
    code: 'insufficient-scope',
    heading: 'You were not signed in',
    text: html`${issuer} wants to see you first (<code>${reason}</code>): a sign-in there, a choice
    of account, or a second factor is missing.`,
    nextStep: html`try again and follow what ${issuer} shows.`,
  }),
  ended: ({ issuer, reason }) => ({
    code: 'bad-request',
    heading: 'The sign-in was not completed',
    text: html`${issuer} ended it with an error that the standard does not know
    (<code>${reason}</code>).`,
    nextStep: html`try again. When it stays so, ask the people who run the sign-in at ${issuer}.`,
  }),
  unavailable: ({ issuer, reason }) => ({
    code: 'identity-provider-unavailable',
    heading: 'The sign-in cannot be reached',
    text: html`${issuer} does not respond as it should (<code>${reason}</code>). Nothing is wrong
    with your account, and whoever is signed in stays so.`,
    nextStep: 'try again in a minute.',
  }),
  'client-refused': ({ issuer, reason, redirectUri }) => ({
    code: 'identity-provider-unavailable',
    heading: 'The sign-in is not set up right',
    text: html`${issuer} does not accept this portal: <code>${reason}</code>.`,
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
  'invalid-response': ({ issuer, reason }) => ({
    code: 'identity-provider-unavailable',
    heading: 'The sign-in gave no usable response',
    text: html`What ${issuer} sent does not fit what was requested (<code>${reason}</code>).`,
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
