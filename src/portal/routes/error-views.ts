/** Pages about what went wrong, in words for people. */
import type { FastifyRequest } from 'fastify';
import type { ErrorCode, TrackportError } from '#shared/errors.ts';
import { problems } from '#shared/outcomes/problems.ts';
import type { PortalContext } from '../context.ts';
import { html, type Html, type HtmlValue } from '../html.ts';
import { may, type PortalPage } from '../page.ts';
import { ownPath, withQuery, SECTIONS, sections, type Section } from '../paths.ts';
import { body, card, facts, row } from '../shell/card.ts';
import { code, cut, link } from '../shell/elements.ts';
import { renderLonePage } from '../shell/frame.ts';
import { type Viewer, time } from '../shell/times.ts';
import { type PortalRefusal, type PortalRefusalKind, viewerOf } from './portal-request.ts';

export type RefusalPage = {
  code: ErrorCode;
  /** In place of the code, for what only the portal refuses. */
  says?: string;
  /** Such as `You may not see consumers`; by default the title of the code. */
  heading?: string;
  /** Says what happened, and that nothing was changed if so; by default the meaning of the code. */
  text?: HtmlValue;
  /** By default that of the code. */
  nextStep?: HtmlValue;
  requestId: string;
  /** Address of the audit entries of the request, for a person who may see them. */
  auditHref?: string;
  /** Links in the look of buttons: where to go from here. */
  actions?: HtmlValue;
};

/** The body of a page that says that something did not work, and what to do now. */
function refusal(given: RefusalPage, viewer: Viewer): Html {
  const { status, meaning, next } = problems[given.code];
  const { text = meaning, nextStep = next, says = given.code } = given;
  const id = code(cut(given.requestId));
  const details = facts([
    ['Status', html`${status} ${code(says)}`],
    ['Request', given.auditHref === undefined ? id : link(given.auditHref, id)],
    ['At', time(viewer.nowMs, viewer)],
  ]);
  const inside = html`<p>${text}</p>
    <p><b>Next step:</b> ${nextStep}</p>
    ${details} ${given.actions !== undefined && row(given.actions)}`;
  return html`<div class="dialog">
    ${card({ id: 'refused', heading: 'What happened' }, body(inside))}
  </div>`;
}

const titleOf = ({ code, heading = problems[code].title }: RefusalPage): string => heading;

/** A whole document, for who is not signed in. */
export function renderLoneRefusal(
  context: Pick<PortalContext, 'repository' | 'clock'>,
  given: RefusalPage,
): string {
  const title = titleOf(given);
  const content = html`<h1>${title}</h1>
    ${refusal(given, viewerOf(context))}`;
  return renderLonePage(title, context.repository, content);
}

/** As far as pages about failures look at it. */
type FailedRequest = Pick<FastifyRequest, 'id' | 'method' | 'url' | 'headers' | 'portalSession'>;

export type Failed = { request: FailedRequest; error: TrackportError; refusal?: PortalRefusal };

/** For who is signed in. */
export function framedView(context: PortalContext, failed: Failed): PortalPage {
  const { url } = failed.request;
  const publicUrl = context.publicUrl();
  const given = {
    ...factsOf(failed, publicUrl),
    ...auditOf(failed.request),
    actions: waysOn(failed, publicUrl),
  };
  const viewer = viewerOf(context);
  return { title: titleOf(given), section: sectionOf(url), body: refusal(given, viewer) };
}

/** For who is not. */
export function loneView(context: PortalContext, failed: Failed, words: ErrorText = {}): string {
  const actions = link('/portal', 'Overview', { look: 'button' });
  const given = { ...factsOf(failed, context.publicUrl()), ...words, actions };
  return renderLoneRefusal(context, given);
}

/** Of an address that could not be taken apart. */
export const BROKEN_ADDRESS: ErrorText = {
  heading: 'This address cannot be read',
  text: 'It was cut off on its way, or holds a percent sign that stands for nothing.',
  nextStep: 'go to the overview, and to the page from there.',
};

const refusals: Readonly<Record<PortalRefusalKind, (publicUrl: string) => ErrorText>> = {
  'no-session': () => ({}),
  'old-sign-in': () => ({}),
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

function auditOf({ id, portalSession }: FailedRequest): Pick<RefusalPage, 'auditHref'> {
  const { path, scope } = SECTIONS.audit;
  const canSee = portalSession && may(portalSession.principal, scope);
  return canSee ? { auditHref: withQuery(path, { request: id }) } : {};
}

function wordsOf({ request, error }: Failed): ErrorText {
  const { errors = [], detail } = error;
  if (error.code === 'insufficient-scope') return missingScope(request, error.challenge);
  const { onPage } = problems[error.code];
  if (errors.length > 0)
    return { text: html`${errors.map((problem) => html`${prose(problem.detail)} `)}`, ...onPage };
  return { ...(detail !== undefined && { text: prose(detail) }), ...onPage };
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
  return html`${isOwnScope && link(`${publicUrl}/portal/sign-in/start`, 'Sign in again', { look: 'button' })}
  ${request.method === 'POST' && before !== '/portal' && link(before, 'Back', { look: 'primary' })}
  ${!isOwnScope && toList(request)} ${link('/portal', 'Overview', { look: 'button' })}`;
}

/** The list that a page belongs to: where to look for what was not found, or to filter anew. */
function toList({ url }: FailedRequest): HtmlValue {
  const { path, label } = SECTIONS[sectionOf(url)];
  return path === '/portal' ? undefined : link(path, label, { look: 'button' });
}

/** The page that a form was sent from, as the browser says it. */
export function pageBefore({ headers }: FailedRequest, publicUrl: string): string {
  const { referer = '' } = headers;
  const { origin } = new URL(publicUrl);
  return ownPath(referer.startsWith(`${origin}/`) ? referer.slice(origin.length) : undefined);
}

function sectionOf(url: string): Section {
  return sections.findLast((section) => url.startsWith(SECTIONS[section].path)) ?? 'overview';
}

type ErrorText = Pick<RefusalPage, 'heading' | 'text' | 'nextStep'>;

/** The text of an error; what it puts between backticks is code. */
function prose(text: string): Html {
  return html`${text.split('`').map((part, at) => (at % 2 === 0 ? part : code(part)))}`;
}
