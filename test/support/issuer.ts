import { type IncomingMessage, type ServerResponse } from 'node:http';
import {
  type CryptoKey,
  exportJWK,
  generateKeyPair,
  type JWK,
  type JWTHeaderParameters,
  type JWTPayload,
  SignJWT,
} from 'jose';
import { openServer } from './http/local-server.ts';

export const AUDIENCE = 'trackport';

export type SigningKey = { kid: string; alg: string; privateKey: CryptoKey; jwk: JWK };

export async function makeKey(kid: string, alg = 'ES256'): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

/** `hang`: takes the call and never answers. `reset`: cuts the connection. */
export type Behaviour = 'good' | 'broken' | 'hang' | 'reset' | 'redirect' | 'nonsense';

export type TestIssuer = {
  issuer: string;
  /** Calls so far, by what was asked for. */
  calls: { discovery: number; keys: number };
  /** Content of its key set. */
  keys: SigningKey[];
  behave(behaviour: Behaviour): void;
  /** Members that replace those of the discovery document. */
  discovery: Record<string, unknown>;
  /** The key set as a whole, in place of `keys`. */
  keySet?: unknown;
};

/** An issuer on 127.0.0.1 with one ES256 key, closed when the running test ends. */
export async function startIssuer(): Promise<TestIssuer> {
  let behaviour: Behaviour = 'good';
  const url = await openServer((request, response) => {
    answer(issuer, behaviour, { request, response });
  });
  const issuer: TestIssuer = {
    issuer: url,
    calls: { discovery: 0, keys: 0 },
    keys: [await makeKey('key-1')],
    behave: (next) => {
      behaviour = next;
    },
    discovery: {},
  };
  return issuer;
}

type Exchange = { request: IncomingMessage; response: ServerResponse };

function answer(issuer: TestIssuer, behaviour: Behaviour, { request, response }: Exchange): void {
  const isDiscovery = request.url === '/.well-known/openid-configuration';
  issuer.calls[isDiscovery ? 'discovery' : 'keys'] += 1;
  if (behaviour === 'hang') return;
  if (behaviour === 'reset') return void request.socket.destroy();
  if (behaviour === 'broken') return void response.writeHead(500).end('{}');
  if (behaviour === 'nonsense') return void response.end('<html>');
  if (behaviour === 'redirect')
    return void response.writeHead(302, { location: `${issuer.issuer}/elsewhere` }).end();
  const document = isDiscovery
    ? { issuer: issuer.issuer, jwks_uri: `${issuer.issuer}/keys`, ...issuer.discovery }
    : (issuer.keySet ?? { keys: issuer.keys.map(({ jwk }) => jwk) });
  response.setHeader('content-type', 'application/json').end(JSON.stringify(document));
}

export type TokenOptions = {
  key?: SigningKey;
  header?: Partial<JWTHeaderParameters>;
  /** Seconds since the Unix epoch; default 12:00 on 1 March 2026, where the fake clock starts. */
  now?: number;
  /** Replaces claims; undefined takes one out. */
  claims?: Record<string, unknown>;
};

/** A good access token of the issuer, but for what the options change. */
export async function makeToken(issuer: TestIssuer, options: TokenOptions = {}): Promise<string> {
  const key = options.key ?? issuer.keys[0];
  if (!key) throw new Error('the issuer has no key');
  const now = options.now ?? Date.parse('2026-03-01T12:00:00Z') / 1000;
  const claims: Record<string, unknown> = {
    iss: issuer.issuer,
    aud: AUDIENCE,
    sub: 'owner-1',
    client_id: 'machine',
    jti: 'token-1',
    iat: now,
    exp: now + 300,
    scope: 'catalog:read catalog:write',
    ...options.claims,
  };
  return new SignJWT(withoutUndefined(claims))
    .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'at+jwt', ...options.header })
    .sign(key.privateKey);
}

function withoutUndefined(claims: Record<string, unknown>): JWTPayload {
  return Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined));
}
