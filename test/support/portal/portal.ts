import { createSessions, type SignedIn } from '#access/sessions/sessions.ts';
import { createSignIn } from '#access/sessions/sign-in.ts';
import type { Area, HttpApp } from '#http/context.ts';
import { html } from '#portal/html.ts';
import type { PortalContext } from '#portal/context.ts';
import { addPortal } from '#portal/portal.ts';
import { createPortalCookies } from '#portal/routes/cookies.ts';
import { createFormTokens } from '#portal/routes/form-bodies.ts';
import { page, type PortalRoute } from '#portal/routes/page-route.ts';
import { createSealer } from '#shared/crypto/sealer.ts';
import type { Database } from '#shared/database.ts';
import { createIdempotency } from '#shared/idempotency.ts';
import { parseFormText } from '#shared/text/form-text.ts';
import type { Log } from '#shared/log.ts';
import type { FakeClock } from '../clock.ts';
import { REPOSITORY } from '../directory.ts';
import { PUBLIC_URL } from '../http/app.ts';
import { bodyReaders } from '../threads.ts';
import { verifierOfNames } from '../tokens.ts';
import { createFakeIssuerClient } from './fake-issuer-client.ts';
import { keyOf } from '../keys.ts';

/** A browser's requests and responses, without following redirects. */
type PortalBrowser = {
  cookie: string | undefined;
  get(path: string): Promise<PortalResponse>;
  /** A form of a page that this browser shows, with its token. */
  post(path: string, fields?: Fields, options?: PostOptions): Promise<PortalResponse>;
  /** The token of this session's forms. */
  formToken(): Promise<string>;
};

type Fields = Record<string, string | string[]>;

/** `formToken: null` leaves it out; headers replace those of a browser, undefined takes one out. */
type PostOptions = { formToken?: string | null; headers?: Record<string, string | undefined> };

export type PortalResponse = {
  status: number;
  body: string;
  headers: Record<string, string | string[] | number | undefined>;
  location: string | undefined;
};

/** The cookies that a response sets, as a browser sends them back. */
export function cookiesOf({ headers }: PortalResponse): string {
  return [headers['set-cookie'] ?? []]
    .flat()
    .map((cookie) => String(cookie).split(';')[0])
    .join('; ');
}

export const SESSION_COOKIE = '__Host-trackport-session';

/** Things that a test's pages work on: only those that they need. */
export type PortalThings = { [Name in keyof PortalContext]?: unknown };

type Setup = {
  database: Database;
  /** By which sessions end. */
  clock: FakeClock;
  log: Log;
  pages: readonly PortalRoute[];
  context: PortalThings | undefined;
  /** The server that has its area. */
  app: () => HttpApp;
};

/** A portal with pages of a test, for a server, and browsers at it. */
export function openPortal({ database: db, clock, log, pages, context, app }: Setup) {
  const sealer = createSealer(keyOf(8));
  const sessions = createSessions({ db, sealer, clock });
  const issuer = createFakeIssuerClient();
  const verifier = verifierOfNames;
  const signIn = createSignIn({ issuer, clientId: 'portal', verifier, sessions, clock, log });
  const area: Area = (scope, http) => {
    const own = {
      ...http,
      catalog: http.bearer?.catalog,
      repository: REPOSITORY,
      issuer: 'https://id.example.com',
      audience: 'trackport',
      sessions,
      signIn,
      cookies: createPortalCookies(http.publicUrl),
      sealer,
      idempotency: createIdempotency({ db, clock }),
      formTokens: createFormTokens(keyOf(9)),
      parseForm: parseFormText,
      readSpecText: bodyReaders.specText,
      readiness: async () => ({ checks: {} }),
      ...context,
    };
    return addPortal(scope, own as PortalContext, [...pages, tokenPage]);
  };
  const browser = (cookie?: string): PortalBrowser => createBrowser(app(), cookie);
  return {
    area,
    clock,
    sessions,
    issuer,
    /** A browser that brings these cookies. */
    browser,
    /** A browser in which somebody is signed in with these scopes. */
    signIn: async (scopes = ['trackport:admin'], who: Partial<SignedIn> = {}) => {
      const subject = who.principal?.subject ?? 'operator-1';
      const principal = { subject, clientId: 'portal', scopes, workspaceId: 'default' };
      const id = await sessions.start({ name: 'Olga', principal, ...who });
      const { session } = createPortalCookies(() => PUBLIC_URL);
      return browser(session.set(id).split(';')[0]);
    },
  };
}

/** A page for whoever is signed in, where a test reads the token that forms carry. */
export const TEST_PAGE = '/portal/test-token';

const tokenPage = page({
  path: TEST_PAGE,
  show: async (_context, { person }) => ({
    title: 'Token',
    section: 'overview',
    body: html`<input value="${person.formToken}" />`,
  }),
});

function createBrowser(app: HttpApp, cookie?: string): PortalBrowser {
  const send = async ({ headers: given, ...request }: Sent): Promise<PortalResponse> => {
    const present = Object.entries({ cookie, ...given }).filter(([, value]) => value !== undefined);
    const response = await app.inject({ ...request, headers: Object.fromEntries(present) });
    const { statusCode: status, body, headers } = response;
    return { status, body, headers, location: headers.location };
  };
  const get = (url: string): Promise<PortalResponse> => send({ method: 'GET', url });
  const formToken = async (): Promise<string> =>
    /value="([^"]+)"/.exec((await get(TEST_PAGE)).body)?.[1] ?? '';
  return {
    cookie,
    get,
    formToken,
    post: async (url, fields = {}, options = {}) => {
      const token = options.formToken === undefined ? await formToken() : options.formToken;
      const form = new URLSearchParams(token === null ? {} : { formToken: token });
      for (const [name, value] of Object.entries(fields))
        for (const one of [value].flat()) form.append(name, one);
      const headers = {
        origin: PUBLIC_URL,
        'sec-fetch-site': 'same-origin',
        'content-type': 'application/x-www-form-urlencoded',
        ...options.headers,
      };
      return send({ method: 'POST', url, headers, payload: form.toString() });
    },
  };
}

type Sent = {
  method: 'GET' | 'POST';
  url: string;
  headers?: Record<string, string | undefined>;
  payload?: string;
};
