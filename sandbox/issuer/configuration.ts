import {
  type AccessToken,
  type Account,
  type AdapterFactory,
  type Client,
  type ClientCredentials,
  type Configuration,
  errors,
  type Grant,
  type JWK,
  type KoaContextWithOIDC,
} from 'oidc-provider';
import { randomBase62 } from '#shared/ids.ts';
import { API_SCOPES, type MachineClient, machineMetadata } from './clients.ts';
import { PAGE_POLICY, renderSignedOut, renderSignOut } from './pages.ts';
import { people } from './people.ts';

/** What tokens are for. Asked for by default, because without it they would be opaque. */
const RESOURCE = 'urn:trackport:api';

const TOKEN_SECONDS = 3600;

export type ProviderOptions = {
  key: JWK;
  /** Holds the clients that can change, beside what the provider keeps. */
  memory: AdapterFactory;
  audience: string;
  machines: readonly MachineClient[];
  interactionPath: (uid: string) => string;
};

/** A provider that gives JWTs for one API, by client credentials or by code with PKCE. */
export function providerConfiguration(options: ProviderOptions): Configuration {
  const { key, memory, machines, interactionPath } = options;
  const workspaces = new Map(machines.map((machine) => [machine.clientId, machine.workspaceId]));
  return {
    adapter: memory,
    jwks: { keys: [key] },
    scopes: ['openid', 'profile', 'offline_access'],
    claims: { openid: ['sub', 'name', 'workspace_id'], profile: ['name'] },
    // Without the userinfo endpoint the ID token is where claims can be.
    conformIdTokenClaims: false,
    responseTypes: ['code'],
    pkce: { required: () => true },
    cookies: { keys: [randomBase62(32)] },
    extraClientMetadata: { properties: [API_SCOPES] },
    clients: machines.map(machineMetadata),
    // A portal stays signed in while the session lasts, without asking for `offline_access`.
    issueRefreshToken: async (_context, client) => client.grantTypeAllowed('refresh_token'),
    ttl: {
      AccessToken: TOKEN_SECONDS,
      AuthorizationCode: 60,
      ClientCredentials: TOKEN_SECONDS,
      Grant: TOKEN_SECONDS,
      IdToken: TOKEN_SECONDS,
      Interaction: 600,
      RefreshToken: TOKEN_SECONDS,
      Session: TOKEN_SECONDS,
    },
    findAccount: (_context, subject) => accountOf(subject),
    extraTokenClaims: (_context, token) => ({
      workspace_id: workspaces.get(token.clientId ?? '') ?? workspaceOf(token) ?? 'default',
    }),
    loadExistingGrant: grantWithoutQuestions,
    renderError: (context, { error, error_description: reason }) => {
      context.type = 'text/plain; charset=utf-8';
      context.body = `${error}: ${reason ?? 'no more is known'}\n`;
    },
    interactions: { url: (_context, { uid }) => interactionPath(uid) },
    fetch: fetchUnguarded,
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      clientCredentials: { enabled: true },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (context, form) => show(context, renderSignOut(form)),
        postLogoutSuccessSource: (context) => show(context, renderSignedOut()),
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => RESOURCE,
        useGrantedResource: () => true,
        getResourceServerInfo: (_context, resource, client) =>
          resourceServer(options, resource, client),
      },
    },
  };
}

function accountOf(subject: string): Account | undefined {
  const person = people.get(subject);
  if (!person) return undefined;
  const { name, workspaceId } = person;
  const claims = () => ({ sub: subject, name, workspace_id: workspaceId });
  return { accountId: subject, claims };
}

/** A person's; a client that acts in its own name has none of these. */
function workspaceOf(token: AccessToken | ClientCredentials): string | undefined {
  return 'accountId' in token ? people.get(token.accountId)?.workspaceId : undefined;
}

function show(context: KoaContextWithOIDC, page: string): void {
  context.set('content-security-policy', PAGE_POLICY);
  context.type = 'text/html; charset=utf-8';
  context.body = page;
}

/** Without the provider's dispatcher, which refuses loopback, where everything here is. */
function fetchUnguarded(url: string | URL | Request, options: RequestInit = {}): Promise<Response> {
  const request = { ...options };
  delete request.dispatcher;
  return fetch(url, request);
}

function resourceServer({ audience }: ProviderOptions, resource: string, client: Client) {
  if (resource !== RESOURCE) throw new errors.InvalidTarget();
  return {
    scope: apiScopesOf(client),
    audience,
    accessTokenFormat: 'jwt' as const,
    accessTokenTTL: TOKEN_SECONDS,
    jwt: { sign: { alg: 'ES256' as const } },
  };
}

function apiScopesOf(client: Client): string {
  const scopes = client[API_SCOPES];
  return typeof scopes === 'string' ? scopes : '';
}

/** The portal is no stranger: people give no consent, and get what they may have. */
async function grantWithoutQuestions({ oidc }: KoaContextWithOIDC): Promise<Grant | undefined> {
  const { client, session, provider } = oidc;
  const accountId = session?.accountId;
  if (!client || accountId === undefined) return undefined;
  const grant = new provider.Grant({ clientId: client.clientId, accountId });
  grant.addOIDCScope('openid profile offline_access');
  const may = new Set(people.get(accountId)?.scopes.split(' '));
  const requested = apiScopesOf(client).split(' ');
  grant.addResourceScope(RESOURCE, requested.filter((scope) => may.has(scope)).join(' '));
  const rest = requested.filter((scope) => !may.has(scope));
  if (rest.length > 0) grant.rejectResourceScope(RESOURCE, rest.join(' '));
  await grant.save();
  return grant;
}
