import {
  type AccessToken,
  type Account,
  type AdapterFactory,
  type Client,
  type ClientCredentials,
  type Configuration,
  errors,
  type Grant,
  interactionPolicy,
  type JWK,
  type KoaContextWithOIDC,
} from 'oidc-provider';
import { randomBase62 } from '#shared/ids.ts';
import { API_SCOPES, type MachineClient, machineMetadata, portalMetadata } from './clients.ts';
import { PAGE_POLICY, renderSignedOut, renderSignOut } from './pages.ts';
import { people } from './people.ts';

/** Audience of tokens. Asked for by default, because without it they would be opaque. */
const RESOURCE = 'urn:trackport:api';

const TOKEN_SECONDS = 3600;
/** A person who is signed in there can be confirmed for longer than any session of the portal lasts. */
const SIGNED_IN_SECONDS = 12 * 3600;

export type ProviderOptions = {
  key: JWK;
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
    scopes: ['openid', 'profile'],
    claims: { openid: ['sub', 'name', 'workspace_id'], profile: ['name'] },
    // Without the userinfo endpoint the ID token is where claims can be.
    conformIdTokenClaims: false,
    responseTypes: ['code'],
    pkce: { required: () => true },
    cookies: { keys: [randomBase62(32)] },
    extraClientMetadata: { properties: [API_SCOPES] },
    clients: [...machines.map(machineMetadata), portalMetadata()],
    ttl: {
      AccessToken: TOKEN_SECONDS,
      AuthorizationCode: 60,
      ClientCredentials: TOKEN_SECONDS,
      Grant: SIGNED_IN_SECONDS,
      IdToken: TOKEN_SECONDS,
      Interaction: 600,
      Session: SIGNED_IN_SECONDS,
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
    interactions: { policy: withoutConsent(), url: (_context, { uid }) => interactionPath(uid) },
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      clientCredentials: { enabled: true },
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

/** By default a native client, which the portal is for its ports on loopback, is never confirmed in silence. */
function withoutConsent(): interactionPolicy.DefaultPolicy {
  const policy = interactionPolicy.base();
  policy.get('consent')?.checks.remove('native_client_prompt');
  return policy;
}

/** The portal is no stranger: people give no consent, and get what they may have. */
async function grantWithoutQuestions({ oidc }: KoaContextWithOIDC): Promise<Grant | undefined> {
  const { client, session, provider } = oidc;
  const accountId = session?.accountId;
  if (!client || accountId === undefined) return undefined;
  const grant = new provider.Grant({ clientId: client.clientId, accountId });
  grant.addOIDCScope('openid profile');
  const may = new Set(people.get(accountId)?.scopes.split(' '));
  const requested = apiScopesOf(client).split(' ');
  grant.addResourceScope(RESOURCE, requested.filter((scope) => may.has(scope)).join(' '));
  const rest = requested.filter((scope) => !may.has(scope));
  if (rest.length > 0) grant.rejectResourceScope(RESOURCE, rest.join(' '));
  await grant.save();
  return grant;
}
