import { randomBytes } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { createSessions, type Sessions, type SignedIn } from '#access/sessions/sessions.ts';
import { createSignIn } from '#access/sessions/sign-in.ts';
import type { ServerOptions } from '#http/server.ts';
import type { HttpApp } from '#http/context.ts';
import { html } from '#portal/html.ts';
import type { PortalContext } from '#portal/context.ts';
import { addPortal } from '#portal/portal.ts';
import { createPortalCookies } from '#portal/routes/cookies.ts';
import { createFormTokens } from '#portal/routes/form-bodies.ts';
import { page, type PortalRoute } from '#portal/routes/page-route.ts';
import { createSealer } from '#shared/crypto/sealer.ts';
import { createIdempotency } from '#shared/idempotency.ts';
import { parseFormText } from '#shared/text/form-text.ts';
import { silentLog } from '#shared/log.ts';
import { createFakeClock, type FakeClock } from '../clock.ts';
import { buildTestApp, PUBLIC_URL } from '../http/app.ts';
import { verifierOfNames } from '../world.ts';
import { createFakeIssuerClient, type FakeIssuerClient } from './fake-issuer-client.ts';
import { temporaryDatabase } from '../stores.ts';

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

export type TestPortal = {
  app: HttpApp;
  clock: FakeClock;
  sessions: Sessions;
  issuer: FakeIssuerClient;
  /** A browser in which somebody is signed in with these scopes. */
  signIn: (scopes?: string[], who?: Partial<SignedIn>) => Promise<PortalBrowser>;
  /** A browser that brings these cookies. */
  browser: (cookie?: string) => PortalBrowser;
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

type Setup = Partial<ServerOptions> & { context?: PortalThings };

/**
 * The portal with pages of a test, on sessions of its own. Closed when the running test ends. Sessions end by its
 * own clock; that of what its pages show can be another.
 */
export function startPortal(
  pages: readonly PortalRoute[] = [],
  { context = {}, ...deps }: Setup = {},
): TestPortal {
  const clock = createFakeClock();
  const sealer = createSealer(randomBytes(32));
  const database = temporaryDatabase();
  const idempotency = createIdempotency({ db: database, clock });
  const sessions = createSessions({ db: database, sealer, clock });
  const issuer = createFakeIssuerClient();
  const signIn = createSignIn({
    issuer,
    clientId: 'portal',
    verifier: verifierOfNames,
    sessions,
    clock,
    log: deps.log ?? silentLog,
  });
  const app = buildTestApp({
    clock,
    ...deps,
    portal: (scope, http) => {
      const own = {
        ...http,
        repository: 'acme/leads',
        issuer: 'https://id.example.com',
        audience: 'trackport',
        sessions,
        signIn,
        cookies: createPortalCookies(http.publicUrl),
        sealer,
        idempotency,
        formTokens: createFormTokens(randomBytes(32)),
        parseForm: parseFormText,
        readiness: async () => ({ checks: {} }),
      };
      addPortal(scope, { ...own, ...context } as PortalContext, [...pages, tokenPage]);
    },
  });
  onTestFinished(() => app.close());
  const browser = (cookie?: string): PortalBrowser => createBrowser(app, cookie);
  return {
    app,
    clock,
    sessions,
    issuer,
    browser,
    signIn: async (scopes = ['trackport:admin'], who = {}) => {
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
