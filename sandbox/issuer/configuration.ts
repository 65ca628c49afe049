import { errors } from 'oidc-provider';
import type { Client, Configuration, Grant, JWK, KoaContextWithOIDC } from 'oidc-provider';
import { randomBase62 } from '#shared/ids.ts';
import { API_SCOPES, machineMetadata, people, portalMetadata } from './clients.ts';
import type { MachineClient } from './clients.ts';
import { createMemory } from './memory.ts';

/** What tokens are for. Asked for by default, because without it they would be opaque. */
const RESOURCE = 'urn:trackport:api';

const TOKEN_SECONDS = 3600;

export type ProviderOptions = {
  key: JWK;
  audience: string;
  machines: readonly MachineClient[];
  interactionPath: (uid: string) => string;
};

/** A provider that gives JWTs for one API, by client credentials or by code with PKCE. */
export function providerConfiguration(options: ProviderOptions): Configuration {
  const { key, machines, interactionPath } = options;
  const workspaces = new Map(machines.map((machine) => [machine.clientId, machine.workspaceId]));
  return {
    adapter: createMemory(),
    jwks: { keys: [key] },
    scopes: ['openid', 'offline_access'],
    responseTypes: ['code'],
    pkce: { required: () => true },
    cookies: { keys: [randomBase62(32)] },
    extraClientMetadata: { properties: [API_SCOPES] },
    clients: [...machines.map(machineMetadata), portalMetadata()],
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
    findAccount: (_context, subject) =>
      people.has(subject) ? { accountId: subject, claims: () => ({ sub: subject }) } : undefined,
    extraTokenClaims: (_context, token) => ({
      workspace_id: workspaces.get(token.clientId ?? '') ?? 'default',
    }),
    loadExistingGrant: grantWithoutQuestions,
    renderError: (context, { error, error_description: reason }) => {
      context.type = 'text/plain; charset=utf-8';
      context.body = `${error}: ${reason ?? 'no more is known'}\n`;
    },
    interactions: { url: (_context, { uid }) => interactionPath(uid) },
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      clientCredentials: { enabled: true },
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
  grant.addOIDCScope('openid offline_access');
  const may = new Set(people.get(accountId)?.scopes.split(' '));
  const requested = apiScopesOf(client).split(' ');
  grant.addResourceScope(RESOURCE, requested.filter((scope) => may.has(scope)).join(' '));
  const rest = requested.filter((scope) => !may.has(scope));
  if (rest.length > 0) grant.rejectResourceScope(RESOURCE, rest.join(' '));
  await grant.save();
  return grant;
}
