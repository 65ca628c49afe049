import type { SignInFailure } from '#access/sessions/issuer-client.ts';
import { SESSION_IDLE_MS, SESSION_MS } from '#access/sessions/session.ts';
import { problemKinds } from '#http/problems/problem.ts';
import { HOUR, MINUTE } from '#shared/clock.ts';
import type { Clock } from '#shared/clock.ts';

import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { renderSignIn } from '../shell/lone.ts';
import type { SignInFacts } from '../shell/lone.ts';
import { renderLonePage } from '../shell/page.ts';
import { cut, link } from '../shell/parts.ts';
import { failurePage } from './failure-page.ts';

export type SignInViewsDeps = {
  /** `owner/name`. */
  repository: string;
  /** As the configuration names it. */
  issuer: string;
  audience: string;
  publicUrl: () => string;
  clock: Pick<Clock, 'now'>;
};

export type SignInViews = ReturnType<typeof createSignInViews>;

const LIMITS = `A session lasts ${SESSION_MS / HOUR} hours, and ${SESSION_IDLE_MS / MINUTE} minutes without use.`;
const RETRY_AFTER_SECONDS = 30;

/** The pages of sign-in, each a whole document. */
export function createSignInViews(deps: SignInViewsDeps) {
  const { repository, publicUrl } = deps;
  const issuer = new URL(deps.issuer).host;
  const page = (returnTo: string, reason?: SignInFacts['reason']): string => {
    const startPath = startOf(publicUrl(), returnTo);
    return renderSignIn({ repository, issuer, startPath, ...(reason && { reason }) });
  };
  return {
    signIn: ({ returnTo, hadSession }: { returnTo: string; hadSession: boolean }): string =>
      page(returnTo, whySignIn(returnTo, hadSession)),
    /** A form came without a session. */
    sessionOver: (returnTo: string): string =>
      page(returnTo, {
        state: 'warn',
        heading: 'Nothing was done: your session ended',
        text: html`${LIMITS} To keep what you typed:
          <b
            >sign in
            ${link({ href: startOf(publicUrl(), '/portal'), text: 'in another tab', opensTab: true })},
            then load this page again</b
          >. Your browser sends the form once more, and it comes back as you filled it in.`,
      }),
    signedOut: (): string =>
      page('/portal', {
        state: 'ok',
        heading: 'You are signed out',
        text: 'Of Trackport, in this browser.',
      }),
    /** `location`: where the browser is led at once. */
    signingOut: (location: string): string => signingOut({ repository, issuer, location }),
    failed: (failure: SignInFailure, requestId: string) =>
      failed({ ...deps, issuer }, failure, requestId),
  };
}

/** With the whole address, so that it all happens at the one that the issuer leads back to. */
function startOf(publicUrl: string, returnTo: string): string {
  const query = returnTo === '/portal' ? '' : `?to=${encodeURIComponent(returnTo)}`;
  return `${publicUrl}/portal/sign-in/start${query}`;
}

function whySignIn(returnTo: string, hadSession: boolean): SignInFacts['reason'] {
  if (hadSession)
    return {
      state: 'mute',
      heading: 'Your session ended',
      text: html`${LIMITS} ${back(returnTo)}`,
    };
  if (returnTo === '/portal') return undefined;
  return { state: 'mute', heading: 'This page needs a sign-in', text: back(returnTo) };
}

function back(returnTo: string): Html {
  return html`After signing in you are at <code>${cut(returnTo)}</code>.`;
}

function signingOut(facts: { repository: string; issuer: string; location: string }): string {
  const { repository, issuer, location } = facts;
  const content = html`<h1>Signed out of Trackport</h1>
    <p>You are led to ${issuer}, to be signed out there as well.</p>
    <p>${link({ href: location, text: `Continue to ${issuer}`, look: 'primary' })}</p>`;
  return renderLonePage('Signed out', repository, content);
}

function failed(deps: SignInViewsDeps, failure: SignInFailure, requestId: string) {
  const { publicUrl, clock, ...facts } = deps;
  const { code, document } = failurePage({
    ...facts,
    failure,
    redirectUri: `${publicUrl()}/portal/callback`,
    startPath: startOf(publicUrl(), '/portal'),
    requestId,
    atMs: clock.now(),
  });
  const { status } = problemKinds[code];
  const retry = status === 503 && { retryAfterSeconds: RETRY_AFTER_SECONDS };
  return { status, document, retryAfterSeconds: undefined, ...retry };
}
