import type { FastifyRequest } from 'fastify';

import { requireScope, type Scope } from '#access/grants/scopes.ts';
import { endOf, type Session } from '#access/sessions/session.ts';
import type { Sessions } from '#access/sessions/sessions.ts';

import type { PortalPerson } from '../person.ts';
import { type PortalCookies, readSessionId } from './cookies.ts';
import type { FormTokens } from './forms/form-token.ts';
import { newFormId } from './forms/submit-once.ts';
import { PortalRefusal } from './errors/refusal.ts';

export type SessionGuardDeps = {
  sessions: Pick<Sessions, 'find'>;
  cookies: PortalCookies;
  formTokens: FormTokens;
  /** Confirms at the issuer who it still is, where it is time for that; undefined ends the session. */
  confirm: (session: Session) => Promise<Session | undefined>;
};

/** Knows who a request comes from. */
export type SessionGuard = {
  /** Undefined when nobody is signed in. */
  find(request: FastifyRequest): Promise<Session | undefined>;
  /** @throws {PortalRefusal} nobody is signed in @throws {insufficient-scope} */
  require(request: FastifyRequest, scope?: Scope): Promise<Session>;
  personOf(session: Session): PortalPerson;
};

export function createSessionGuard(deps: SessionGuardDeps): SessionGuard {
  const { sessions, cookies, formTokens, confirm } = deps;
  const find: SessionGuard['find'] = async (request) => {
    const id = readSessionId(cookies, request.headers.cookie);
    const found = id === undefined ? undefined : await sessions.find(id);
    const session = found && (await confirm(found));
    if (session) noteSession(request, session);
    return session;
  };
  return {
    find,
    require: async (request, scope) => {
      const session = await find(request);
      if (!session) throw new PortalRefusal('no-session');
      if (scope !== undefined) requireScope(session.principal, scope);
      return session;
    },
    personOf: (session) => toPerson(session, formTokens),
  };
}

/** Whose session a request is, after `find` or `require`. */
export function sessionOf({ portalSession }: Pick<FastifyRequest, 'portalSession'>): Session {
  if (!portalSession) throw new Error('the guard of the portal did not run');
  return portalSession;
}

/** For the log line and for pages about errors. */
function noteSession(request: FastifyRequest, session: Session): void {
  const { subject, workspaceId, clientId } = session.principal;
  request.portalSession = session;
  request.logFacts = {
    ...request.logFacts,
    subject,
    workspaceId,
    ...(clientId !== undefined && { clientId }),
  };
}

function toPerson(session: Session, formTokens: FormTokens): PortalPerson {
  const { principal } = session;
  return {
    subject: principal.subject,
    name: session.name,
    workspaceId: principal.workspaceId,
    scopes: principal.scopes,
    formToken: formTokens.of(session),
    formId: newFormId(),
    sessionEndsMs: endOf(session),
    timeZone: session.timeZone,
  };
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is signed in, once the guard of the portal looked. */
    portalSession: Session | undefined;
  }
}
