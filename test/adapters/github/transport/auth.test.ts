import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import type { ServerResponse } from 'node:http';

import nock from 'nock';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';

import type { TrackerCredential } from '#adapters/github/transport/auth.ts';
import { Secret } from '#shared/crypto/secret.ts';
import { API, createParts, watchNock, everythingIn, startServer } from '../support.ts';

const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pem = pair.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
const shape = { schema: z.object({ ok: z.literal(true) }) };

let installations = 100;

/** auth-app shares mints in flight by installation id, across credentials: each test has its own. */
function createApp(text = pem): { credential: TrackerCredential; mintPath: string } {
  installations += 1;
  const installationId = String(installations);
  return {
    credential: { appId: '12', installationId, privateKey: new Secret(text) },
    mintPath: `/app/installations/${installationId}/access_tokens`,
  };
}

function minted(token: string): object {
  return { token, expires_at: new Date(Date.now() + 3_600_000).toISOString(), permissions: {} };
}

watchNock();

describe('an App', () => {
  test('makes one token for many calls, with a key in any accepted form', async () => {
    const { credential, mintPath } = createApp(pem.replaceAll('\n', String.raw`\n`));
    let jwt = '';
    nock(API)
      .post(mintPath)
      .matchHeader('authorization', (value) => {
        jwt = String(value).replace(/^bearer /i, '');
        return true;
      })
      .reply(201, minted('ghs_one'));
    nock(API, { reqheaders: { authorization: 'token ghs_one' } })
      .get('/x')
      .times(5)
      .reply(200, { ok: true });
    const { client } = createParts({ credential });
    const calls = Array.from({ length: 5 }, () => client.request('GET /x', {}, shape));
    await Promise.all(calls);
    expect(isSignedBy(jwt)).toBe(true);
  });

  test('says nothing on the console of a version that ends, be it of a token or of a call', async () => {
    const warn = vi.spyOn(console, 'warn');
    const { credential, mintPath } = createApp();
    const ending = { deprecation: 'Fri, 10 Mar 2028 00:00:00 GMT' };
    nock(API).post(mintPath).reply(201, minted('ghs_one'), ending);
    nock(API).get('/x').reply(200, { ok: true }, ending);
    const { client } = createParts({ credential });
    await client.request('GET /x', {}, shape);
    expect(warn.mock.calls).toEqual([]);
  });

  test('renews its token once for all calls that were refused together', async () => {
    const { credential, mintPath } = createApp();
    nock(API)
      .post(mintPath)
      .reply(201, minted('ghs_old'))
      .post(mintPath)
      .reply(201, minted('ghs_new'));
    nock(API, { reqheaders: { authorization: 'token ghs_old' } })
      .get('/x')
      .times(3)
      .reply(401);
    nock(API, { reqheaders: { authorization: 'token ghs_new' } })
      .get('/x')
      .times(4)
      .reply(200, { ok: true });
    const { client } = createParts({ credential });
    const calls = Array.from({ length: 3 }, () => client.request('GET /x', {}, shape));
    await expect(Promise.all(calls)).resolves.toHaveLength(3);
    await expect(client.request('GET /x', {}, shape)).resolves.toMatchObject({ status: 200 });
  });

  test('does not renew a token again for a call that was refused late', async () => {
    const refusals: ServerResponse[] = [];
    const { credential, mintPath } = createApp();
    let mints = 0;
    const server = await startServer((request, response) => {
      if (request.url === mintPath) {
        mints += 1;
        response.writeHead(201, { 'content-type': 'application/json' });
        response.end(JSON.stringify(minted(`ghs_${mints}`)));
      } else if (request.headers.authorization === 'token ghs_1') refusals.push(response);
      else response.end('{"ok":true}');
    });
    const { client } = createParts({ credential, apiUrl: server.url });
    const [early, late] = [1, 2].map(() => client.request('GET /x', {}, shape));
    await vi.waitUntil(() => refusals.length === 2);
    refusals[0]?.writeHead(401).end();
    await Promise.race([early, late]);
    refusals[1]?.writeHead(401).end();
    await Promise.all([early, late]);
    expect(mints).toBe(2);
  });

  test('renews its token in the middle of a write, which a 401 has not done', async () => {
    const { credential, mintPath } = createApp();
    nock(API)
      .post(mintPath)
      .reply(201, minted('ghs_old'))
      .post(mintPath)
      .reply(201, minted('ghs_new'));
    nock(API).patch('/x').reply(401).patch('/x').reply(200, { ok: true });
    const { client } = createParts({ credential });
    await expect(client.request('PATCH /x', {}, shape)).resolves.toMatchObject({ status: 200 });
  });

  test('gives up when the new token is refused as well', async () => {
    const { credential, mintPath } = createApp();
    nock(API).post(mintPath).times(2).reply(201, minted('ghs_any')).get('/x').times(2).reply(401);
    const { client } = createParts({ credential });
    await expect(client.request('GET /x', {}, shape)).rejects.toMatchObject({
      kind: 'unauthorized',
    });
  });

  test.each([
    ['unknown', 404, 'unauthorized'],
    ['of another key', 401, 'unauthorized'],
    ['suspended', 403, 'forbidden'],
    ['unreachable for a moment', 502, 'server'],
    ['moved', 301, 'moved'],
  ])('that is %s fails the call and can recover', async (_, status, kind) => {
    const { credential, mintPath } = createApp();
    nock(API)
      .post(mintPath)
      .reply(status, { message: 'upstream words' }, { location: `${API}/y` });
    const { client } = createParts({ credential });
    const error: unknown = await client.request('GET /x', {}, shape).catch((e: unknown) => e);
    expect(everythingIn(error)).not.toContain('upstream words');
    // A redirect is no error to auth-app, which then hands out no token at all.
    expect(error).toMatchObject({ kind: kind === 'moved' ? 'nonsense' : kind });
    nock(API).post(mintPath).reply(201, minted('ghs_good'));
    nock(API, { reqheaders: { authorization: 'token ghs_good' } })
      .get('/x')
      .reply(200, { ok: true });
    await expect(client.request('GET /x', {}, shape)).resolves.toMatchObject({ status: 200 });
  });

  test('never uses a token that is none', async () => {
    const { credential, mintPath } = createApp();
    nock(API).post(mintPath).reply(201, '<html>').post(mintPath).reply(201, minted('ghs_good'));
    nock(API, { reqheaders: { authorization: 'token ghs_good' } })
      .get('/x')
      .reply(200, { ok: true });
    const { client } = createParts({ credential });
    await expect(client.request('GET /x', {}, shape)).rejects.toMatchObject({ kind: 'nonsense' });
    await expect(client.request('GET /x', {}, shape)).resolves.toMatchObject({ status: 200 });
  });

  test('whose token never comes is stopped by the deadline of the call', async () => {
    const server = await startServer(() => {});
    const { credential } = createApp();
    const { client } = createParts({ credential, apiUrl: server.url, requestTimeoutMs: 300 });
    await expect(client.request('GET /x', {}, shape)).rejects.toMatchObject({ kind: 'timeout' });
  });

  test('with an unusable key is refused when it is built, without a word of the key', () => {
    const { credential } = createApp(`"${pem}"`);
    const build = (): unknown => createParts({ credential });
    expect(build).toThrow(TypeError);
    expect(build).toThrow('quotation marks');
    expect(build).not.toThrow(pem.split('\n')[1]);
  });
});

describe('a token', () => {
  test('that is refused is not tried again', async () => {
    nock(API).get('/x').reply(401, { message: 'Bad credentials' });
    const { client } = createParts();
    await expect(client.request('GET /x', {}, shape)).rejects.toMatchObject({
      kind: 'unauthorized',
      status: 401,
    });
  });
});

function isSignedBy(jwt: string): boolean {
  const [header = '', payload = '', signature = ''] = jwt.split('.');
  const publicKey = createPublicKey(pair.privateKey);
  const signed = Buffer.from(`${header}.${payload}`);
  return verify('RSA-SHA256', signed, publicKey, Buffer.from(signature, 'base64url'));
}
