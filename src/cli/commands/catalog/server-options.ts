/** Which server an import goes to, and who comes to it. */
import type { Environment } from '#config/interpolate.ts';
import type { ImportWork } from '#catalog/import/import-draft.ts';
import type { ImportServer } from '#catalog/import/import-target.ts';
import { Secret } from '#shared/crypto/secret.ts';
import { isLoopbackHost } from '#shared/address.ts';

import { UsageError } from '../../command.ts';

export type ServerOptions = {
  server?: string;
  token?: string;
  issuer?: string;
  clientId?: string;
  scope?: string;
  audience?: string;
  allowHttp?: boolean;
};

/** What a work needs and no more, so that a check can have a client that only reads. */
const SCOPES: Readonly<Record<ImportWork, string>> = {
  check: 'catalog:read',
  plan: 'catalog:read',
  import: 'catalog:read catalog:write',
  publish: 'catalog:read catalog:write catalog:publish',
};

const NO_CREDENTIAL =
  'Say who comes to the server: a token in TRACKPORT_TOKEN (or --token), or --issuer and --client-id with the secret in TRACKPORT_CLIENT_SECRET.';

/** Undefined without `--server`. @throws {UsageError} */
export function readServer(
  options: ServerOptions,
  environment: Environment,
  work: ImportWork,
): ImportServer | undefined {
  const { server, ...others } = options;
  if (server === undefined) {
    const given = Object.keys(others).find((name) => Object.hasOwn(OPTION_NAMES, name));
    if (given !== undefined)
      throw new UsageError(`${OPTION_NAMES[given as keyof ServerOptions]} belongs to --server.`);
    return undefined;
  }
  const isHttpAllowed = options.allowHttp === true;
  return {
    server: checkAddress('--server', server, isHttpAllowed).replace(/\/+$/, ''),
    credential: readCredential(options, environment, work),
  };
}

const OPTION_NAMES: Readonly<Record<keyof ServerOptions, string>> = {
  server: '--server',
  token: '--token',
  issuer: '--issuer',
  clientId: '--client-id',
  scope: '--scope',
  audience: '--audience',
  allowHttp: '--allow-http',
};

function readCredential(
  options: ServerOptions,
  environment: Environment,
  work: ImportWork,
): ImportServer['credential'] {
  const { token, clientId, issuer } = options;
  if (token !== undefined && clientId !== undefined)
    throw new UsageError('Give either --token or --client-id.');
  if (token !== undefined) return toToken(token);
  if (clientId !== undefined || issuer !== undefined) return toClient(options, environment, work);
  const fromEnvironment = environment['TRACKPORT_TOKEN'] ?? '';
  if (fromEnvironment === '') throw new UsageError(NO_CREDENTIAL);
  return toToken(fromEnvironment);
}

/** A header with anything else would be refused with the token in the message. */
function toToken(text: string): ImportServer['credential'] {
  const token = text.trim();
  if (/^[\x21-\x7e]+$/.test(token)) return { kind: 'token', token: new Secret(token) };
  throw new UsageError('The token is empty, or has blanks or other characters that no token has.');
}

function toClient(
  { issuer, clientId, scope, audience, allowHttp }: ServerOptions,
  environment: Environment,
  work: ImportWork,
): ImportServer['credential'] {
  const secret = environment['TRACKPORT_CLIENT_SECRET'] ?? '';
  if (issuer === undefined || clientId === undefined || secret === '')
    throw new UsageError(
      'Client credentials are --issuer, --client-id and the secret in TRACKPORT_CLIENT_SECRET.',
    );
  checkAddress('--issuer', issuer, allowHttp === true);
  return {
    kind: 'client',
    issuer,
    clientId,
    clientSecret: new Secret(secret),
    scope: scope ?? SCOPES[work],
    audience,
  };
}

/** Tokens and secrets go over a network by https only; loopback is no network. */
function checkAddress(option: string, text: string, isHttpAllowed: boolean): string {
  const url = URL.parse(text);
  const isAddress = url && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '';
  if (!isAddress || url.username !== '' || url.password !== '')
    throw new UsageError(
      `${option} takes an address such as https://trackport.example.com, without user, query and fragment.`,
    );
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname) && !isHttpAllowed)
    throw new UsageError(
      `${option} is not https: what is sent could be read on the way. Where that is no danger, add --allow-http.`,
    );
  return url.href;
}
