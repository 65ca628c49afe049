/** `catalog import` against the whole program, with tokens of a real issuer. */
import { type IncomingMessage, request as openRequest, type ServerResponse } from 'node:http';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { type Issuer, startIssuer } from '#sandbox/issuer/issuer.ts';
import { systemClock } from '#shared/clock.ts';
import { runImport } from '../../support/catalog-import.ts';
import { createFakeClock } from '../../support/clock.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { freePort } from '../../support/free-port.ts';
import { programFile } from '../../support/program.ts';
import { compose } from '../support/world.ts';
import { trackport } from '../support/process.ts';
import { openServer } from '../../support/http/local-server.ts';

// Processes start one after the other, on a machine that may have other work.
vi.setConfig({ testTimeout: 120_000 });

const SECRET = 'r'.repeat(40);
const reader = { clientId: 'reader', clientSecret: SECRET, scopes: 'catalog:read' };
const teamB = { clientId: 'team-b', clientSecret: SECRET, workspaceId: 'b' };

let issuer: Issuer;
let url: string;
let folder: string;

beforeEach(async () => {
  issuer = await startIssuer({ machines: [reader, teamB] });
  onTestFinished(() => issuer.close());
  ({ url } = await compose({
    apiUrl: `http://127.0.0.1:${await freePort()}`,
    // The issuer's tokens are of the real time, however long a test takes.
    clock: { ...createFakeClock(), now: () => Date.now() },
    settings: { identity: { issuer: issuer.url, audience: issuer.audience } },
  }));
  folder = temporaryFolder();
});

const put = (name: string, text: string): void => {
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
};

const document = (title: string, version: string, paths: object = {}): string =>
  JSON.stringify({ openapi: '3.1.0', info: { title, version }, paths });
const path1 = { get: { responses: { 200: { description: 'ok' } } } };

type Report = {
  files: { file: string; id?: string; outcome: string; findings?: { code: string }[] }[];
  summary: Record<string, number>;
};

const login = ({ clientId } = { clientId: issuer.machine.clientId }, server = url): string[] => [
  '--server',
  server,
  '--issuer',
  issuer.url,
  '--client-id',
  clientId,
];
const secretOf = (clientId: string): string =>
  [issuer.machine, reader, teamB].find((client) => client.clientId === clientId)?.clientSecret ??
  SECRET;

/** Runs the command here, with the services of the program. */
async function run(args: string[], credentials = login()) {
  const at = credentials.indexOf('--client-id');
  const environment = { TRACKPORT_CLIENT_SECRET: secretOf(credentials[at + 1] ?? '') };
  const { out, failure } = await runImport([folder, ...args, ...credentials], {
    json: true,
    clock: systemClock,
    environment,
  });
  return { failure, ...(JSON.parse(out || '{"files":[],"summary":{}}') as Report) };
}

const outcomes = ({ files }: Report): string[] => files.map(({ outcome }) => outcome);

async function token(client: { clientId: string; clientSecret: string } = issuer.machine) {
  const basic = Buffer.from(`${client.clientId}:${client.clientSecret}`).toString('base64');
  const response = await fetch(issuer.tokenEndpoint, {
    method: 'POST',
    headers: { authorization: `Basic ${basic}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'catalog:read' }),
  });
  return ((await response.json()) as { access_token: string }).access_token;
}

async function read(target: string, client = issuer.machine) {
  const headers = { authorization: `Bearer ${await token(client)}` };
  const response = await fetch(`${url}/api/v1/catalog${target}`, { headers });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** Audit entries of an artifact, oldest first. */
async function actionsOf(id: string): Promise<string[]> {
  const { body } = await read(`/${id}/audit?limit=100`);
  return (body['items'] as { action: string }[]).map(({ action }) => action).reverse();
}

test('a folder is checked, imported, published, and found unchanged', async () => {
  put('shop.json', document('Shop', '1.0.0', { '/a': path1, '/b': path1 }));
  put(
    'orders.yaml',
    'id: orders\ntype: PRODUCT\nowner: a\ntitle: Orders\nmembers: [shop, later]\n',
  );
  put('group.yaml', 'id: group\ntype: GROUP\nowner: a\ntitle: Group\ngroupPath: x\n');
  put(
    'big.json',
    '{"id":"big","type":"SCHEMA","owner":"a","title":"B","spec":{"n":12345678901234567890.10}}',
  );
  const checked = await run(['--check'], login(reader));
  expect(checked).toMatchObject({ failure: undefined, summary: { created: 4, failed: 0 } });
  expect((await read('/shop?version=1.0.0')).status).toBe(404);
  expect(outcomes(await run([]))).toEqual(['created', 'created', 'created', 'created']);
  expect(outcomes(await run([]))).toEqual(['unchanged', 'unchanged', 'unchanged', 'unchanged']);
  expect((await run(['--publish'])).summary).toMatchObject({ published: 4, failed: 0 });
  expect((await run(['--publish'])).summary).toMatchObject({ published: 0, unchanged: 4 });
  for (const id of ['shop', 'orders', 'group', 'big'])
    expect(await actionsOf(id)).toEqual(['artifact.create', 'artifact.publish']);
  expect((await read('/shop?version=1.0.0')).body).toMatchObject({
    lifecycle: 'PUBLISHED',
    source: 'FILE',
  });
  expect(outcomes(await run(['--check'], login(reader)))).toEqual(Array(4).fill('unchanged'));
  put('shop.json', document('Shop', '1.1.0', { '/a': path1 }));
  const broken = await run(['--check'], login(reader));
  expect(broken.failure).toBe('1 of 4 failed.');
  expect(broken.files[3]?.findings).toMatchObject([{ severity: 'error', code: 'breaking-change' }]);
  expect((await run(['--check', '--breaking', 'accept'])).failure).toBeUndefined();
});

test('a folder of split documents reaches the server whole, and its new versions are held together', async () => {
  put('shop.json', document('Shop', '1.0.0', { '/a': { $ref: 'parts/a.json' }, '/b': path1 }));
  put('parts/a.json', JSON.stringify(path1));
  put('shop2.json', document('Shop', '1.1.0', { '/a': { $ref: 'parts/a.json' } }));
  const checked = await run(['--check'], login(reader));
  expect(outcomes(checked)).toEqual(['skipped', 'created', 'failed']);
  expect(checked.files[2]?.findings).toMatchObject([{ code: 'breaking-change' }]);
  const published = await run(['--publish', '--exclude', 'parts/**']);
  expect(outcomes(published)).toEqual(['published', 'published']);
  expect((await read('/shop/spec?version=1.0.0')).body['paths']).toEqual({
    '/a': path1,
    '/b': path1,
  });
});

test('a member that is added before it is published reaches the draft', async () => {
  const product = (members: string) =>
    `id: orders\ntype: PRODUCT\nowner: a\ntitle: Orders\nmembers: ${members}\n`;
  put('orders.yaml', product('[]'));
  await run([]);
  put('orders.yaml', product('[shop]'));
  expect(outcomes(await run([]))).toEqual(['replaced']);
  expect(outcomes(await run([]))).toEqual(['unchanged']);
  put('shop.json', document('Shop', '1.0.0'));
  await run(['--publish']);
  expect((await read('/orders?version=1.0.0')).body['members']).toMatchObject([{ id: 'shop' }]);
});

test('a token says which workspace it is, and what may be done', async () => {
  put('shop.json', document('Shop', '1.0.0'));
  await run(['--publish'], login(teamB));
  expect((await read('/shop?version=1.0.0')).status).toBe(404);
  expect((await read('/shop?version=1.0.0', teamB)).status).toBe(200);
  const refused = await run(['--publish'], login(reader));
  expect(refused.failure).toMatch(/refuses: .*catalog:write/);
  const unknown = await run([], login({ clientId: 'nobody' }));
  expect(unknown.failure).toMatch(/The issuer .* refuses the client: invalid_client\./);
  const elsewhere = await run(['--check'], [...login(), '--issuer', `${issuer.url}/other`]);
  expect(elsewhere.failure).toMatch(/^The issuer .*\/other cannot be used/);
  expect(JSON.stringify([refused, unknown, elsewhere])).not.toContain(SECRET);
});

type Exchange = { method: string; target: string; count: number };
type Fate = 'pass' | 'lose' | (() => void);

/** Stands before the server; `fate` decides of each request that it was passed on, but the response lost. */
async function startProxy(fate: (exchange: Exchange) => Fate): Promise<string> {
  const counts = new Map<string, number>();
  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: target = '' } = request;
    const count = (counts.get(`${method} ${target}`) ?? 0) + 1;
    counts.set(`${method} ${target}`, count);
    const { status, headers, bytes } = await forward(request, await buffer(request));
    const decided = fate({ method, target, count });
    if (decided === 'pass') response.writeHead(status, headers).end(bytes);
    else if (decided === 'lose') response.destroy();
    else decided();
  }
  return openServer((request, response) => {
    void pass(request, response).catch(() => response.destroy());
  });
}

async function forward({ method, url: target, headers }: IncomingMessage, body: Buffer) {
  return new Promise<{ status: number; headers: IncomingMessage['headers']; bytes: Buffer }>(
    (resolve, reject) => {
      const sent = openRequest(`${url}${target}`, { method, headers }, (response) => {
        void buffer(response).then((bytes) =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes }),
        );
      });
      sent.once('error', reject).end(body);
    },
  );
}

test('every response that writes is lost once: nothing is done twice', async () => {
  put('a.json', document('A', '1.0.0'));
  put('b.yaml', 'id: b\ntype: PRODUCT\nowner: a\ntitle: old\n');
  await run([]);
  put('b.yaml', 'id: b\ntype: PRODUCT\nowner: a\ntitle: new\n');
  put('c.json', document('C', '1.0.0'));
  const proxy = await startProxy(({ method, count }) =>
    method !== 'GET' && count === 1 ? 'lose' : 'pass',
  );
  const { failure, summary } = await run(['--publish'], login(issuer.machine, proxy));
  expect({ failure, summary }).toMatchObject({ failure: undefined, summary: { published: 3 } });
  expect(await actionsOf('a')).toEqual(['artifact.create', 'artifact.publish']);
  expect(await actionsOf('b')).toEqual(['artifact.create', 'artifact.replace', 'artifact.publish']);
  expect(await actionsOf('c')).toEqual(['artifact.create', 'artifact.publish']);
});

test.each(['POST /api/v1/catalog', 'POST /api/v1/catalog/c/publish?version=1.0.0'])(
  'killed after %s, and run again, an import is complete and did nothing twice',
  async (last) => {
    const ids = ['a', 'b', 'c', 'd', 'e'];
    for (const id of ids) put(`${id}.json`, document(id.toUpperCase(), '1.0.0'));
    const killed = Promise.withResolvers<void>();
    const proxy = await startProxy(({ method, target, count }) => {
      const isLast = `${method} ${target}` === last && (count === 3 || target.includes('/c/'));
      return isLast ? killed.resolve : 'pass';
    });
    const command = ['catalog', 'import', folder, '--publish'];
    const environment = { TRACKPORT_CLIENT_SECRET: issuer.machine.clientSecret };
    const child = trackport([...command, ...login(issuer.machine, proxy)], { environment });
    await killed.promise;
    child.child.kill('SIGKILL');
    expect(await child.exited).toBeNull();
    const rest = trackport([...command, ...login(issuer.machine)], { environment });
    expect(await rest.exited).toBe(0);
    for (const id of ids)
      expect(await actionsOf(id)).toEqual(['artifact.create', 'artifact.publish']);
  },
);

test('a token of the environment does, and stands in no output; a refused one stops', async () => {
  put('shop.json', document('Shop', '1.0.0'));
  const good = await token();
  const command = ['catalog', 'import', folder, '--check', '--server', url];
  const done = trackport(command, { environment: { TRACKPORT_TOKEN: good } });
  expect(await done.exited).toBe(0);
  const bad = `${good.slice(0, -20)}${'A'.repeat(20)}`;
  const refused = trackport([...command, '--format', 'github'], {
    environment: { TRACKPORT_TOKEN: bad },
  });
  expect(await refused.exited).toBe(1);
  expect(refused.stdout()).toContain('::error title=stopped::');
  const printed = [done, refused].map((run) => run.stdout() + run.stderr()).join('');
  expect(printed).not.toContain(good.slice(0, 20));
});

// Root may read everything, so that this runs as somebody else where it can.
const stranger = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;
const canBecomeStranger =
  spawnSync(process.execPath, [programFile(), '--version'], { ...stranger }).status === 0;

test.skipIf(!canBecomeStranger)('a folder that cannot be read is told, not left out', async () => {
  put('shop.json', document('Shop', '1.0.0'));
  const locked = path.join(folder, 'locked');
  mkdirSync(locked);
  chmodSync(folder, 0o755);
  chmodSync(locked, 0);
  try {
    const command = ['catalog', 'import', folder, '--server', url, '--token', 'unused'];
    const refused = trackport(command, stranger && { user: stranger });
    expect(await refused.exited).toBe(2);
    expect(refused.stderr()).toBe(`${locked} cannot be read (EACCES).\n`);
  } finally {
    chmodSync(locked, 0o755);
  }
});
