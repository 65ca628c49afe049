/** A request of the portal: who sends what, by its schemas, and the page that it gets. */
import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { requireScope, type Scope, tokenLogFields } from '#access/tokens.ts';
import { type Session, sessionEnd } from '#access/sessions/sessions.ts';
import { refuse, TrackportError } from '#shared/errors.ts';
import { checkFields, type Part, PROBLEMS_MAX } from '#shared/field-problems.ts';
import type { Exchange } from '#http/context.ts';
import type { PortalContext } from '../context.ts';
import type { Once, PortalFile, PortalPage, PortalPerson } from '../page.ts';
import type { HeldForm } from '../shell/forms.ts';
import type { Viewer } from '../shell/times.ts';
import { renderPage } from '../shell/frame.ts';

/** A request as pages get it, when they are opened and when a form on them came back. */
export type PortalRequest<Params = unknown, Query = unknown> = HeldForm & {
  person: PortalPerson;
  /** For times on the page. */
  viewer: Viewer;
  /** Of the page, or where the form is sent. */
  path: string;
  params: Params;
  /** Of a form that came back: as without any parameter. */
  query: Query;
  /** Field `seen` of a form that was filled in before the sign-in: what it says of then still counts. */
  seenBefore?: string | undefined;
};

/** Finds the session of a request; undefined when nobody is signed in. */
export async function findSession(
  { sessions, cookies }: PortalContext,
  request: FastifyRequest,
): Promise<Session | undefined> {
  const id = cookies.session.read(request.headers.cookie);
  const session = id === undefined ? undefined : await sessions.find(id, !isReload(request));
  if (!session) return undefined;
  // For pages about errors, and for the log line.
  request.portalSession = session;
  request.logFacts = { ...request.logFacts, ...tokenLogFields(session.principal) };
  return session;
}

/** The parameter with which the page's script opens it again by itself, which is no use of the session. */
export const RELOAD_PARAMETER = 'reload';

export function isReload({ query }: Pick<FastifyRequest, 'query'>): boolean {
  return Object.hasOwn(query as object, RELOAD_PARAMETER);
}

/** @throws {PortalRefusal} nobody is signed in */
export async function requireSession(
  context: PortalContext,
  request: FastifyRequest,
): Promise<Session> {
  const session = await findSession(context, request);
  if (!session) throw new PortalRefusal('no-session');
  return session;
}

/** Requires a session with the scope, for who wants to do something. @throws {PortalRefusal} also for an old sign-in @throws {insufficient-scope} */
export async function requireActor(
  context: PortalContext,
  request: FastifyRequest,
  scope?: Scope,
): Promise<void> {
  const session = await requireSession(context, request);
  if (context.sessions.isTooOldToAct(session)) throw new PortalRefusal('old-sign-in');
  if (scope !== undefined) requireScope(session.principal, scope);
}

/** The session of a request, after it was found. */
export function sessionOf({ portalSession }: Pick<FastifyRequest, 'portalSession'>): Session {
  if (!portalSession) throw new Error('the guard of the portal did not run');
  return portalSession;
}

function personOf({ formTokens }: PortalContext, session: Session): PortalPerson {
  const { subject, workspaceId, scopes } = session.principal;
  return {
    subject,
    name: session.name,
    workspaceId,
    scopes,
    formToken: formTokens.of(session),
    formId: randomBytes(16).toString('base64url'),
    sessionEndsMs: sessionEnd(session),
  };
}

/** The schema of what takes no field. */
const nothing = z.strictObject({});

export type NoFields = typeof nothing;

/** A schema that is left out takes no field; the type parameter that stands for it says so, too. */
export function schemaOf<S extends z.ZodType>(given: S | undefined): S;
export function schemaOf(given: z.ZodType = nothing): z.ZodType {
  return given;
}

export type PageSchemas<Params extends z.ZodType, Query extends z.ZodType> = {
  /** Of the path; what does not fit is a page that is not there. */
  params?: Params;
  /** Default: no parameter. What is repeated comes as a list. */
  query?: Query;
};

/** Sender, time and parameters of a request. @throws {not-found} for a path that no object can have */
export function openRequest<Params extends z.ZodType>(
  context: PortalContext,
  request: FastifyRequest,
  params: Params,
) {
  return {
    person: personOf(context, sessionOf(request)),
    viewer: viewerOf(context),
    path: pathOf(request),
    params: paramsOf(request, params),
  };
}

export function viewerOf({ clock }: Pick<PortalContext, 'clock'>): Viewer {
  return { nowMs: clock.now() };
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the guard of the portal. */
    portalSession: Session | undefined;
  }
}

/** Why a request of the portal was refused before anything was done. */
export type PortalRefusalKind =
  /** Nobody is signed in, or the session has ended. */
  | 'no-session'
  /** The issuer said too long ago who is signed in. */
  | 'old-sign-in'
  /** The form was sent by a page of another site. */
  | 'other-origin'
  /** The form is of another session, or was made up. */
  | 'stale-form';

/** Becomes a page that says what to do; its kind is the `code` of the log line. */
export class PortalRefusal extends Error {
  readonly kind: PortalRefusalKind;

  constructor(kind: PortalRefusalKind) {
    super(kind);
    this.name = 'PortalRefusal';
    this.kind = kind;
  }
}

/**
 * Refuses forms of other sites. Browsers say where a form comes from: by `Sec-Fetch-Site`, and by
 * `Origin` with every POST. What neither says is decided by the form's token alone.
 * @throws {PortalRefusal}
 */
export function refuseOtherOrigins(
  { headers }: Pick<FastifyRequest, 'headers'>,
  publicUrl: string,
): void {
  const { origin, 'sec-fetch-site': site } = headers;
  const isOwn = origin === undefined || origin === new URL(publicUrl).origin;
  if (!isOwn || (site !== undefined && site !== 'same-origin'))
    throw new PortalRefusal('other-origin');
}

/** One part of a request by its schema; all that is wrong with it comes at once. */
export function checkInput<S extends z.ZodType>(
  schema: S,
  part: Part,
  given: unknown,
): ReturnType<typeof checkFields<S>> {
  const checked = checkFields(schema, part, given);
  return 'value' in checked ? checked : { problems: checked.problems.slice(0, PROBLEMS_MAX) };
}

export type Search = Readonly<Record<string, unknown>>;

/** @throws {validation-failed} */
export function queryOf<Query extends z.ZodType>(given: Search, schema: Query): z.output<Query> {
  const checked = checkInput(schema, 'querystring', given);
  return 'value' in checked ? checked.value : refuse(checked.problems);
}

/** A path that no object can have is one where nothing is. @throws {not-found} */
function paramsOf<Params extends z.ZodType>(
  request: FastifyRequest,
  schema: Params,
): z.output<Params> {
  const checked = checkInput(schema, 'params', request.params);
  if ('value' in checked) return checked.value;
  throw new TrackportError('not-found', { detail: 'There is no page at this address.' });
}

export const pathOf = ({ url }: Pick<FastifyRequest, 'url'>): string => url.split('?')[0] ?? '';

/** For every route of the portal: it is in no OpenAPI document, and its input is checked here. */
export const PORTAL_ROUTE = {
  schema: { hide: true },
  config: { freeQuery: true, freeBody: true },
} as const;

/** The parameter by which a page finds what it shows once. */
export const ONCE_PARAMETER = 'once';

/** Whatever `Cache-Control` says, Chromium shows pages again on *Back*, but for those of another status than 200. */
const SECRET_STATUS = 201;

/** Sends a page in the frame of whoever is signed in. */
export function sendPage(
  context: PortalContext,
  { request, reply }: Exchange,
  page: PortalPage,
  left?: Once,
) {
  const once = page.notice === undefined ? left : { notice: page.notice, isUndone: true };
  const person = personOf(context, sessionOf(request));
  const frame = { person, currentPath: currentPathOf(request), once };
  const document = renderPage(context, frame, page);
  return sendDocument(reply, document, once?.secret ? SECRET_STATUS : page.status);
}

/** Sends a whole HTML document. */
export function sendDocument(reply: FastifyReply, document: string, status = 200) {
  return reply.code(status).headers(PORTAL_HEADERS).send(document);
}

export function sendFile(reply: FastifyReply, { fileName, mediaType, content }: PortalFile) {
  const name = fileName.replaceAll(/[^\w.-]/g, '-');
  return reply
    .headers(PORTAL_HEADERS)
    .header('content-type', mediaType)
    .header('content-disposition', `attachment; filename="${name}"`)
    .send(content);
}

/** Without what is shown once, for whoever comes back has seen it, and without how the page was opened. */
function currentPathOf({ url }: FastifyRequest): string {
  const [path = '', query = ''] = url.split('?');
  const own = [ONCE_PARAMETER, RELOAD_PARAMETER];
  const rest = query.split('&').filter((part) => !own.some((name) => part.startsWith(`${name}=`)));
  return rest.join('&') === '' ? path : `${path}?${rest.join('&')}`;
}

/**
 * Headers of every page of the portal. Scripts, styles, pictures and forms are its own, nothing
 * is inline, and nothing is stored on the way or by the browser. The referrer stays within the portal:
 * with none at all browsers would send forms with `Origin: null`.
 */
export const PORTAL_HEADERS: Readonly<Record<string, string>> = Object.freeze({
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'referrer-policy': 'same-origin',
  'x-frame-options': 'DENY',
});
