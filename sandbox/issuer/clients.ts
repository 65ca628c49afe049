import type { ClientMetadata } from 'oidc-provider';

/** What the adapter requires of a token; owned by its documentation, repeated here on purpose. */
export const ALL_SCOPES = 'catalog:read catalog:write catalog:publish trackport:admin';

/** Client metadata of our own: which API scopes a client may have at all. */
export const API_SCOPES = 'urn:trackport:api-scopes';

const SIGNED_WITH = 'ES256';

/** A client that acts in its own name (client credentials). */
export type MachineClient = {
  clientId: string;
  /** At least 32 characters. */
  clientSecret: string;
  /** With blanks between them; default: all. */
  scopes?: string;
  /** Default `default`. */
  workspaceId?: string;
};

/** People who can sign in, with what their tokens may carry. */
export const people: ReadonlyMap<string, { name: string; scopes: string }> = new Map([
  ['owner', { name: 'Olivia Owner, who may do everything', scopes: ALL_SCOPES }],
  ['viewer', { name: 'Victor Viewer, who may read the catalog', scopes: 'catalog:read' }],
]);

export const PORTAL_CLIENT_ID = 'trackport-portal';

export function machineMetadata({ clientId, clientSecret, scopes }: MachineClient): ClientMetadata {
  return {
    client_id: clientId,
    client_secret: clientSecret,
    grant_types: ['client_credentials'],
    redirect_uris: [],
    response_types: [],
    id_token_signed_response_alg: SIGNED_WITH,
    [API_SCOPES]: scopes ?? ALL_SCOPES,
  };
}

/** A public client for people. It may come back to any port of loopback (RFC 8252 §7.3). */
export function portalMetadata(): ClientMetadata {
  return {
    client_id: PORTAL_CLIENT_ID,
    token_endpoint_auth_method: 'none',
    application_type: 'native',
    redirect_uris: ['http://127.0.0.1/portal/callback'],
    response_types: ['code'],
    grant_types: ['authorization_code', 'refresh_token'],
    id_token_signed_response_alg: SIGNED_WITH,
    [API_SCOPES]: ALL_SCOPES,
  };
}
