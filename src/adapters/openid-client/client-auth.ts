import {
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  None,
  type ServerMetadata,
} from 'openid-client';

/**
 * How a client shows its secret: the standard's default where the issuer takes it (OpenID Connect Core
 * §9). Without a secret the client is a public one.
 */
export function clientAuthOf(secret: string | undefined, server: ServerMetadata): ClientAuth {
  if (secret === undefined) return None();
  const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  return methods.includes('client_secret_basic')
    ? ClientSecretBasic(secret)
    : ClientSecretPost(secret);
}
