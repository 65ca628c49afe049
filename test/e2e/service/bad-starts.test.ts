/** The program as a process of its own: starts that fail, and what stands in its output. */
import { spawnSync } from 'node:child_process';
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { chmodSync, closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { programFile } from '../../support/program.ts';
import { bodyOf, people, personalTexts, seedPeople } from '../support/people.ts';
import { runHere } from '../support/command.ts';
import { configFile, runTrackport } from '../support/process.ts';
import { createWorld, serve, TRACKER_TOKEN, WEBHOOK_SECRET } from '../support/world.ts';

const tracker = {
  repository: 'acme/leads',
  auth: { token: 't' },
  webhookSecrets: [WEBHOOK_SECRET],
};

type End = { code: number | null; stdout: string; stderr: string };

/** Nothing but a message: no stack, nothing of the program's inside. */
function expectMessage({ stdout, stderr }: End): void {
  expect(stdout.split('\n').filter((line) => line !== '' && !line.startsWith('{'))).toEqual([]);
  expect(stderr).not.toMatch(/^\s+at /m);
  expect(stderr).not.toMatch(/Error:|node:internal|node_modules|src\//);
  expect(stderr.endsWith('\n')).toBe(true);
}

describe('a wrong configuration is told in one message, exit 2', () => {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const keyLine = privateKey.split('\n')[5] ?? '';
  const app = (key: string) => ({
    tracker: { repository: 'acme/leads', auth: { appId: 1, installationId: 2, privateKey: key } },
  });

  test.each([
    [
      'a variable that is not set',
      { tracker: { ...tracker, auth: { token: '${NOT_SET}' } } },
      ['tracker.auth.token', 'the environment variable NOT_SET to be set'],
    ],
    ['a damaged private key', app(privateKey.replace(keyLine, 'x')), ['damaged']],
  ])('%s', async (_name, settings, parts) => {
    const file = configFile(settings);
    const end = await runHere(['serve', '--config', file, '--port', '0']);
    expectMessage(end);
    expect(end.code).toBe(2);
    expect(end.stderr.startsWith(`${file} has a problem:\n  `)).toBe(true);
    for (const part of parts) expect(end.stderr).toContain(part);
    expect(end.stderr).not.toContain(keyLine);
    expect(end.stderr.trimEnd().split('\n')).toHaveLength(2);
  });
});

describe('a store with another beginning is refused by name and stays as it is, exit 2', () => {
  const APPLIED = `CREATE TABLE migration (
      number INTEGER PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL, appliedAt INTEGER NOT NULL);
    INSERT INTO migration VALUES (1, '0001_access', 'breaking', 0), (2, '0002_leads', 'compatible', 0);
    CREATE TABLE consumer (id TEXT PRIMARY KEY)`;

  test.each([
    ['of an earlier version, in WAL mode', `PRAGMA journal_mode = WAL; ${APPLIED}`, '0001_access'],
    ['of another program', 'CREATE TABLE notes (text TEXT)', 'tables of another program'],
    [
      'of another program that has migrations, too',
      "CREATE TABLE migration (id INTEGER, run TEXT); INSERT INTO migration VALUES (1, 'x')",
      'begins with nothing known',
    ],
  ])('a file %s', async (_name, sql, what) => {
    const file = path.join(temporaryFolder(), 'trackport.db');
    const handle = new BetterSqlite3(file);
    handle.exec(sql);
    handle.close();
    const before = readFileSync(file);
    const config = configFile({ tracker, store: { url: `sqlite:${file}` } });
    for (const command of [
      ['serve', '--port', '0'],
      ['consumer', 'list'],
    ]) {
      const end = await runHere([...command, '--config', config]);
      expectMessage(end);
      expect(end.code).toBe(2);
      expect(end.stderr).toContain(`The store ${file} cannot be used: `);
      expect(end.stderr).toContain(what);
      expect(end.stderr).toContain('Name a new one in store.url');
    }
    expect(readFileSync(file).equals(before)).toBe(true);
  });
});

describe('a store that cannot be used is told in one line, exit 1', () => {
  async function storeOf(folder: string): Promise<{ file: string; config: string }> {
    const file = path.join(folder, 'trackport.db');
    const config = configFile({ tracker, store: { url: `sqlite:${file}` } }, folder);
    expect((await runHere(['migrate', '--config', config])).code).toBe(0);
    return { file, config };
  }

  function expectOneLine(end: End, file: string): void {
    expectMessage(end);
    expect(end.code).toBe(1);
    expect(end.stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(end.stderr).toContain(`The store ${file} cannot be used`);
  }

  test('a damaged file', async () => {
    const { file, config } = await storeOf(temporaryFolder());
    const { length } = readFileSync(file);
    const handle = openSync(file, 'r+');
    writeSync(handle, Buffer.alloc(length - 100, 0xa5), 0, length - 100, 100);
    closeSync(handle);
    const end = await runTrackport(['serve', '--config', config, '--port', '0']);
    expectOneLine(end, file);
    expect(end.stderr).toContain('Restore a backup');
  });

  test('a file of a later version of Trackport', async () => {
    const { file, config } = await storeOf(temporaryFolder());
    const handle = new BetterSqlite3(file);
    handle.exec("INSERT INTO migration VALUES (9999, '9999_later', 'breaking', 0)");
    handle.close();
    const end = await runHere(['serve', '--config', config, '--port', '0']);
    expectOneLine(end, file);
    expect(end.stderr).toContain('9999_later');
    expect(end.stderr).toContain('Run that version, or restore a backup');
  });

  test.each([
    ['a file that is no database', () => configFile('no database, but long enough'.repeat(100))],
    ['a folder below a file', () => path.join(configFile('a file'), 'data', 'trackport.db')],
  ])('%s', async (_name, fileOf) => {
    const file = fileOf();
    const config = configFile({ tracker, store: { url: `sqlite:${file}` } });
    const end = await runHere(['serve', '--port', '0', '--config', config]);
    expectOneLine(end, file);
    expect(end.stdout).toBe('');
  });

  /** Permissions do not bind root, so that these run as somebody else where they can. */
  const stranger = process.getuid?.() === 0 ? { user: { uid: 65_534, gid: 65_534 } } : {};
  const canBecomeStranger =
    spawnSync(process.execPath, [programFile(), '--version'], stranger.user).status === 0;

  test.skipIf(!canBecomeStranger).each([
    ['file', 'read-only'],
    ['folder', 'read-only'],
  ])('a %s that is %s', async (kind) => {
    const folder = temporaryFolder();
    const { file, config } = await storeOf(folder);
    chmodSync(file, kind === 'file' ? 0o444 : 0o666);
    chmodSync(`${file}.key`, 0o444);
    chmodSync(folder, kind === 'file' ? 0o777 : 0o555);
    try {
      const end = await runTrackport(['serve', '--config', config, '--port', '0'], stranger);
      expectOneLine(end, file);
      expect(end.stderr).toMatch(/writable/);
    } finally {
      chmodSync(folder, 0o777);
    }
  });

  test.skipIf(!canBecomeStranger)(
    'but a secret key that may not be read is a matter of the configuration: exit 2',
    async () => {
      const folder = temporaryFolder();
      const { file, config } = await storeOf(folder);
      chmodSync(folder, 0o777);
      chmodSync(file, 0o666);
      chmodSync(`${file}.key`, 0o000);
      const end = await runTrackport(['serve', '--config', config, '--port', '0'], stranger);
      expect(end.code).toBe(2);
      expect(end.stderr).toContain(`${file}.key`);
      expect(end.stderr).toContain('readable for this user');
    },
  );
});

test('a whole bad day leaves no word of a person and no secret in the output', async () => {
  const partnerSecret = 'crm-one-secret-of-this-test';
  const { tracker, config, key } = await createWorld({
    server: { logLevel: 'debug' },
    leads: { freshFor: '0s' },
    partners: { 'crm-one': { scheme: 'hmac-sha256', secrets: [partnerSecret] } },
  });
  const numbers = seedPeople(tracker);
  const { run, url } = await serve(config);
  tracker.addWebhook(`${url}/api/v1/webhooks/github`, WEBHOOK_SECRET);
  const [ada, bob] = people;
  const get = async (target: string): Promise<number> =>
    (await fetch(`${url}${target}`, { headers: { 'x-api-key': key } })).status;
  const sign = (body: string): string =>
    `sha256=${createHmac('sha256', partnerSecret).update(body).digest('hex')}`;
  const post = async (target: string, body: string, signature: string): Promise<number> => {
    const headers = { 'content-type': 'application/json', 'x-partner-signature': signature };
    return (await fetch(`${url}${target}`, { method: 'POST', headers, body })).status;
  };

  expect(await get('/api/v1/leads')).toBe(200);
  expect(await get(`/api/v1/leads?label=${ada.firstName}&${bob.email}=1&since=${ada.email}`)).toBe(
    400,
  );
  expect(await get(`/api/v1/leads/${encodeURIComponent(ada.email)}`)).toBe(404);
  expect(await get(`/${encodeURIComponent(bob.email)}`)).toBe(404);
  tracker.editIssue(numbers[0] ?? 0, { title: ada.message, body: bodyOf(bob) });
  await tracker.hooks.settled();
  for (const kind of ['truncated', 'empty', 'reset', 'bad-credentials'] as const)
    tracker.fault({ kind, path: '/issues', count: 2 });
  tracker.fault({ kind: 'status', status: 502, text: bodyOf(ada), path: '/issues', count: 4 });
  for (let at = 0; at < 4; at += 1) await get('/api/v1/leads');
  tracker.clearFaults();

  const target = '/api/v1/webhooks/partners/crm-one/deletions';
  const deletion = JSON.stringify({
    eventType: 'lead.deletion',
    email: bob.email,
    note: ada.message,
  });
  expect(await post(target, deletion, sign('another'))).toBe(401);
  const broken = deletion.slice(0, -1);
  expect(await post(target, broken, sign(broken))).toBe(400);
  expect(await post(target, deletion, sign(deletion))).toBe(202);
  await eventually(() => {
    expect(tracker.issues().filter(({ state }) => state === 'open')).toEqual([]);
  });
  await tracker.hooks.settled();
  expect(await get('/metrics')).toBe(200);
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const receipts = await runHere(['receipt', 'list', '--config', config]);
  expect(receipts.stdout).toContain('lead.deletion');

  run.child.kill('SIGTERM');
  expect(await run.exited).toBe(0);
  expect(run.log().length).toBeGreaterThan(10);
  const secrets = [key, WEBHOOK_SECRET, partnerSecret, TRACKER_TOKEN, sign(deletion)];
  for (const text of [run.stdout(), run.stderr(), metrics, receipts.stdout, receipts.stderr])
    for (const hidden of [...personalTexts, ...secrets]) expect(text).not.toContain(hidden);
});
