/** Pages about what went wrong, in words for people. */
import type { FastifyRequest } from 'fastify';
import type { Clock } from '#shared/clock.ts';
import type { ErrorCode, TrackportError } from '#shared/errors.ts';
import { html, type Html, type HtmlValue } from '../../html.ts';
import type { PortalPage } from '../../page.ts';
import { code, link } from '../../shell/parts.ts';
import {
  refusal,
  type RefusalFacts,
  refusalTitle,
  renderLoneRefusal,
} from '../../shell/refusal.ts';
import type { PortalRefusal, PortalRefusalKind } from './refusal.ts';
import { ownPath } from '../return-path.ts';

/** As far as pages about failures look at it. */
type FailedRequest = Pick<FastifyRequest, 'id' | 'method' | 'url' | 'headers' | 'portalSession'>;

export type Failed = { request: FailedRequest; error: TrackportError; refusal?: PortalRefusal };

export type ErrorViewsDeps = {
  /** `owner/name`. */
  repository: string;
  publicUrl: () => string;
  clock: Pick<Clock, 'now'>;
};

/** For who is signed in. */
export function framedView({ publicUrl, clock }: ErrorViewsDeps, failed: Failed): PortalPage {
  const { portalSession: session, url } = failed.request;
  const atMs = clock.now();
  const facts = { ...factsOf(failed, publicUrl()), atMs };
  const reader = { timeZone: session?.timeZone ?? 'UTC', nowMs: atMs };
  return {
    title: refusalTitle(facts),
    section: sectionOf(url),
    body: refusal({ ...facts, actions: waysOn(failed, publicUrl()) }, reader),
  };
}

/** A whole document, for who is not. */
export function loneView(deps: ErrorViewsDeps, failed: Failed, words: ErrorText = {}): string {
  return renderLoneRefusal({
    ...factsOf(failed, deps.publicUrl()),
    ...words,
    repository: deps.repository,
    atMs: deps.clock.now(),
    actions: link({ href: '/portal', text: 'Overview', look: 'button' }),
  });
}

/** The same for what failed before any route was found: mostly the address itself. */
export function earlyView(deps: ErrorViewsDeps, failed: Failed): string {
  return loneView(deps, failed, earlyWords[failed.error.code]);
}

const earlyWords: Readonly<Partial<Record<ErrorCode, ErrorText>>> = {
  'bad-request': {
    heading: 'This address cannot be read',
    text: 'It was cut off on its way, or holds a percent sign that stands for nothing.',
    nextStep: 'go to the overview, and to the page from there.',
  },
  'uri-too-long': {
    heading: 'This address is too long',
    text: 'No page of the portal has an address like it.',
    nextStep: 'go to the overview, and to the page from there.',
  },
  'headers-too-large': {
    text: 'The browser sent more cookies than are taken.',
    nextStep: 'delete the cookies of this address, then sign in again.',
  },
};

const refusals: Readonly<Record<PortalRefusalKind, (publicUrl: string) => ErrorText>> = {
  'no-session': () => ({}),
  'stale-form': () => ({
    heading: 'This form is from an earlier session',
    text: 'Nothing was changed.',
    nextStep: 'open the page again and send the form from there.',
  }),
  'other-origin': (publicUrl) => ({
    heading: 'This form came from elsewhere',
    text: 'Nothing was changed: no page of this portal sent it.',
    nextStep: html`open the portal at <code>${publicUrl}/portal</code> and send the form from there.`,
  }),
};

function factsOf({ request, error, refusal }: Failed, publicUrl: string) {
  const { code } = error;
  if (!refusal) return { code, requestId: request.id, ...wordsOf({ request, error }) };
  return { code, says: refusal.kind, requestId: request.id, ...refusals[refusal.kind](publicUrl) };
}

function wordsOf({ request, error }: Failed): ErrorText {
  const { errors = [], detail } = error;
  if (error.code === 'insufficient-scope') return missingScope(request, error.challenge);
  const words = errorTexts[error.code];
  if (errors.length > 0)
    return { text: html`${errors.map((problem) => html`${prose(problem.detail)} `)}`, ...words };
  return { ...(detail !== undefined && { text: prose(detail) }), ...words };
}

function missingScope({ portalSession: session }: FailedRequest, challenge = ''): ErrorText {
  const scope = /scope="([^"]+)"/.exec(challenge)?.[1] ?? 'another scope';
  const carried = session?.principal.scopes ?? [];
  const list = carried.length === 0 ? 'no scope' : html`<code>${carried.join(' ')}</code>`;
  return {
    heading: 'You may not do this',
    text: html`Your sign-in carries ${list}; this needs <code>${scope}</code>.`,
    nextStep: 'ask an owner of your organisation for that scope, then sign in again.',
  };
}

function waysOn(failed: Failed, publicUrl: string): HtmlValue {
  const { request, error, refusal } = failed;
  const before = pageBefore(request, publicUrl);
  const isOwnScope = error.code === 'insufficient-scope' && !refusal;
  return html`${isOwnScope && link({ href: `${publicUrl}/portal/sign-in/start`, text: 'Sign in again', look: 'button' })}
  ${request.method === 'POST' && before !== '/portal' && link({ href: before, text: 'Back', look: 'primary' })}
  ${!isOwnScope && toList(request)} ${link({ href: '/portal', text: 'Overview', look: 'button' })}`;
}

/** The list that a page belongs to: where to look for what was not found, or to filter anew. */
function toList({ url }: FailedRequest): HtmlValue {
  const section = sectionOf(url);
  if (section === 'overview') return undefined;
  const text = `${section.charAt(0).toUpperCase()}${section.slice(1)}`;
  return link({ href: `/portal/${section}`, text, look: 'button' });
}

/** The page that a form was sent from, as the browser says it. */
export function pageBefore({ headers }: FailedRequest, publicUrl: string): string {
  const { referer = '' } = headers;
  const { origin } = new URL(publicUrl);
  return ownPath(referer.startsWith(`${origin}/`) ? referer.slice(origin.length) : undefined);
}

const SECTIONS = ['consumers', 'receipts', 'partners', 'catalog', 'audit'] as const;

function sectionOf(url: string): PortalPage['section'] {
  return SECTIONS.find((section) => url.startsWith(`/portal/${section}`)) ?? 'overview';
}

type ErrorText = Pick<RefusalFacts, 'heading' | 'text' | 'nextStep'>;

const TRY_AGAIN: ErrorText = { nextStep: 'wait a few seconds, then try again.' };
const LOOK_AGAIN: ErrorText = { nextStep: 'go back, and look at the state it has now.' };

/** By code. What a text leaves out is said by the error itself, else by its code. */
const errorTexts: Readonly<Partial<Record<ErrorCode, ErrorText>>> = {
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
function prose(text: string): Html {
  return html`${text.split('`').map((part, at) => (at % 2 === 0 ? part : code(part)))}`;
}
