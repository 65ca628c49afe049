import type { ClientMetadata } from 'oidc-provider';

/** Scopes that the adapter requires of tokens; owned by its documentation, repeated here on purpose. */
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
    redirect_uris: onLoopback('/portal/callback'),
    post_logout_redirect_uris: ['/portal/signed-out', '/portal', '/'].flatMap(onLoopback),
    response_types: ['code'],
    grant_types: ['authorization_code'],
    id_token_signed_response_alg: SIGNED_WITH,
    [API_SCOPES]: ALL_SCOPES,
  };
}

function onLoopback(path: string): string[] {
  return ['127.0.0.1', 'localhost', '[::1]'].map((host) => `http://${host}${path}`);
}
