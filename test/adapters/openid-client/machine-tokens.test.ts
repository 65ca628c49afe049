import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { createTokenRequest } from '#adapters/openid-client/machine-tokens.ts';
import { startIssuer } from '#sandbox/issuer/issuer.ts';
import { Secret } from '#shared/crypto/secret.ts';

const claimsOf = (token: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as never;

test('a real issuer gives a client a token with the scopes it asks for, each time another', async () => {
  const issuer = await startIssuer();
  onTestFinished(() => issuer.close());
  const { clientId, clientSecret } = issuer.machine;
  const request = createTokenRequest({
    issuer: issuer.url,
    clientId,
    clientSecret: new Secret(clientSecret),
    scope: 'catalog:read',
  });
  const [first, second] = [await request(), await request()];
  expect([3_600_000, 3_599_000]).toContain(first.lifetimeMs); // a second may begin meanwhile
  expect(claimsOf(first.token)).toMatchObject({ client_id: clientId, scope: 'catalog:read' });
  expect(second.token).not.toBe(first.token);
});

test.each([
  ['a wrong secret', {}, 'refuses the client: invalid_client'],
  ['an issuer that is not there', { issuer: 'http://127.0.0.1:9' }, 'cannot be used'],
])('%s is told without the secret', async (_name, facts, message) => {
  const issuer = await startIssuer();
  onTestFinished(() => issuer.close());
  const secret = 'wrong-secret';
  const clientSecret = new Secret(secret);
  const client = { issuer: issuer.url, clientId: 'sandbox-machine', clientSecret, scope: 'a' };
  const failed = await createTokenRequest({ ...client, ...facts })().catch((error: Error) => error);
  expect(failed).toMatchObject({
    name: 'TargetFailure',
    message: expect.stringContaining(message),
  });
  expect(failed).not.toMatchObject({ message: expect.stringContaining(secret) });
});

test.each([
  [['client_secret_post'], { authorization: undefined, secret: 'very-secret' }],
  [['client_secret_post', 'client_secret_basic'], { authorization: 'Basic', secret: null }],
  [undefined, { authorization: 'Basic', secret: null }],
])('an issuer that takes %s is shown the secret so', async (methods, shown) => {
  const seen: unknown[] = [];
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const secret = new URLSearchParams(await text(request)).get('client_secret');
    const issuer = `http://${request.headers.host}`;
    response.setHeader('content-type', 'application/json');
    if (request.method === 'POST') {
      seen.push({ authorization: request.headers.authorization?.split(' ')[0], secret });
      response.end(JSON.stringify({ access_token: 'a', token_type: 'Bearer' }));
    } else {
      const endpoints = { issuer, token_endpoint: `${issuer}/token` };
      response.end(
        JSON.stringify({ ...endpoints, token_endpoint_auth_methods_supported: methods }),
      );
    }
  };
  const server = createServer((request, response) => void respond(request, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const clientSecret = new Secret('very-secret');
  const client = { issuer: `http://127.0.0.1:${port}`, clientId: 'c', clientSecret, scope: 'a' };
  expect(await createTokenRequest(client)()).toEqual({ token: 'a' });
  expect(seen).toEqual([shown]);
});
