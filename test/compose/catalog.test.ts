import { expect, test } from 'vitest';
import { MINUTE } from '#shared/clock.ts';
import { Secret } from '#shared/crypto/secret.ts';
import { importFiles } from '#catalog/import/import-files.ts';
import { createServerTarget } from '#cli/commands/catalog/server-target.ts';
import { createMachineTokens } from '#adapters/openid-client/machine-tokens.ts';
import { specThreads } from '../support/threads.ts';
import { createFakeClock } from '../support/clock.ts';
import { openServer } from '../support/http/local-server.ts';

/** An issuer whose tokens last five minutes, and a server that notes which ones it gets. */
async function startBoth(isRefused: (token: string) => boolean = () => false) {
  const seen: string[] = [];
  let issued = 0;
  const root: string = await openServer((request, response) => {
    const { url = '', headers } = request;
    const reply = (status: number, body: object, type = 'application/json'): void =>
      void response.writeHead(status, { 'content-type': type }).end(JSON.stringify(body));
    if (url.endsWith('/.well-known/openid-configuration'))
      return reply(200, { issuer: root, token_endpoint: `${root}/token` });
    if (url === '/token')
      return reply(200, {
        access_token: `token-${(issued += 1)}`,
        token_type: 'Bearer',
        expires_in: 300,
      });
    const token = (headers.authorization ?? '').slice('Bearer '.length);
    seen.push(token);
    if (isRefused(token))
      return reply(401, { code: 'unauthorized', detail: 'No.' }, 'application/problem+json');
    if (url.startsWith('/api/v1/catalog?')) return reply(200, { items: [] });
    return reply(404, { code: 'artifact-not-found', detail: 'None.' }, 'application/problem+json');
  });
  return { root, seen };
}

async function importSlowly(root: string, files: number) {
  const clock = createFakeClock();
  const credential = {
    issuer: root,
    clientId: 'ci',
    clientSecret: new Secret('s'),
    scope: 'catalog:read',
  };
  const tokens = createMachineTokens(credential, clock);
  return importFiles(specThreads, createServerTarget(root, tokens), {
    files: Array.from({ length: files }, (_, index) => `${index}.yaml`),
    read: async (name) => {
      await clock.advance(MINUTE);
      return { name, bytes: Buffer.from(`id: a${name}\ntype: API\nowner: a\ntitle: t\n`) };
    },
    work: 'plan',
    acceptsBreaking: false,
    onProgress: () => undefined,
  });
}

test('a token serves until half a minute before its end, then another one does', async () => {
  const { root, seen } = await startBoth();
  await importSlowly(root, 6);
  const used = [...new Set(seen)];
  expect(used).toEqual(['token-1', 'token-2']);
  // Minutes 1 to 5 after the first minute, in which it was requested.
  expect(seen.lastIndexOf('token-1')).toBeLessThan(seen.indexOf('token-2'));
});

test('a token that the server does not take any more is renewed once, and the import goes on', async () => {
  const { root, seen } = await startBoth((token) => token === 'token-1' && seen.length > 3);
  const { results, stoppedBy } = await importSlowly(root, 3);
  expect(stoppedBy).toBeUndefined();
  expect(results).toHaveLength(3);
  expect(new Set(seen)).toEqual(new Set(['token-1', 'token-2']));
});

test('an issuer whose tokens are refused stops the import at its first file', async () => {
  const { root, seen } = await startBoth(() => true);
  const { results, stoppedBy } = await importSlowly(root, 3);
  expect(results).toEqual([]);
  expect(stoppedBy).toMatchObject({ name: 'TargetFailure' });
  expect(seen).toEqual(['token-1', 'token-2']);
});
