import { createHash, randomBytes } from 'node:crypto';
import type { Issuer } from '#sandbox/issuer/issuer.ts';

export type Tokens = {
  access_token: string;
  id_token: string;
  scope: string;
  token_type: string;
};

/** Address of the portal, as far as the issuer knows: nothing has to listen there. */
export const PORTAL = 'http://127.0.0.1:4711';

export const CALLBACK = `${PORTAL}/portal/callback`;

type Browse = (url: string, form?: Record<string, string>) => Promise<Response>;

/** A browser as far as sign-in needs one: it keeps cookies and follows redirects by hand. */
function createBrowser(): Browse {
  const cookies = new Map<string, string>();
  return async (url: string, form?: Record<string, string>): Promise<Response> => {
    const response = await fetch(url, {
      method: form ? 'POST' : 'GET',
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form && { body: new URLSearchParams(form) }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
    return response;
  };
}

type SignInOptions = {
  person?: string;
  scope?: string;
  /** Parameters of the authorization request that replace ours; an empty one is left out. */
  parameters?: Record<string, string>;
  /** A browser that has been there before. */
  browse?: Browse;
};

export type SignIn = {
  /** Query of the call of the callback. */
  callback: URLSearchParams;
  verifier: string;
  /** Pages that were shown on the way. */
  pages: string[];
  /** The browser that signed in. */
  browse: Browse;
};

/** Walks from the authorization request to the callback, as a person with a browser does. */
export async function signIn(issuer: Issuer, options: SignInOptions = {}): Promise<SignIn> {
  const verifier = randomBytes(32).toString('base64url');
  const { person = 'owner', scope = `openid ${issuer.scopes}`, parameters = {} } = options;
  const { browse = createBrowser() } = options;
  const query = new URLSearchParams({
    client_id: issuer.portalClientId,
    response_type: 'code',
    redirect_uri: CALLBACK,
    scope,
    state: 'state-1',
    nonce: 'nonce-1',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...parameters,
  });
  for (const [name, value] of Object.entries(parameters)) if (value === '') query.delete(name);
  const pages: string[] = [];
  let response = await browse(`${issuer.url}/auth?${query.toString()}`);
  for (let step = 0; step < 20; step += 1) {
    const location = response.headers.get('location');
    if (location === null) {
      const page = await response.text();
      pages.push(page);
      const action = /<form method="post" action="([^"]+)"/.exec(page)?.[1];
      if (action === undefined)
        return {
          callback: new URLSearchParams({ status: String(response.status) }),
          verifier,
          pages,
          browse,
        };
      response = await browse(new URL(action, issuer.url).href, { person });
    } else if (location.startsWith(CALLBACK)) {
      return { callback: new URL(location).searchParams, verifier, pages, browse };
    } else {
      response = await browse(new URL(location, issuer.url).href);
    }
  }
  throw new Error('the sign-in goes in circles');
}

/** Asks the token endpoint; `basic` is `id:secret`. */
export async function askForTokens(
  { tokenEndpoint }: Pick<Issuer, 'tokenEndpoint'>,
  form: Record<string, string>,
  basic?: string,
): Promise<{ status: number; body: Tokens & { error?: string } }> {
  const response = await fetch(tokenEndpoint, {
    method: 'POST',
    headers:
      basic === undefined
        ? {}
        : { authorization: `Basic ${Buffer.from(basic).toString('base64')}` },
    body: new URLSearchParams(form),
  });
  return { status: response.status, body: (await response.json()) as Tokens };
}
