/** A store goes from one engine to the other under a service, and the command is killed in the middle. */
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { openDatabase } from '#adapters/sqlite/connection/database.ts';
import { eventually } from '../../support/eventually.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { connectToPostgres, emptyPostgres } from '../../support/postgres/database.ts';
import { createLargeStores } from '../support/large-store.ts';
import {
  configFile,
  killWhileWriting,
  runTrackport,
  trackport,
  type Trackport,
} from '../support/process.ts';
import {
  command,
  createWorld,
  crmOne,
  deletionOf,
  environment,
  listLeads,
  openLead,
  sendDeletion,
  serve,
} from '../support/world.ts';

const settings = {
  partners: { 'crm-one': crmOne },
  deletions: { retry: Array.from({ length: 10 }, () => '3s') },
};

async function deleteLead(url: string, number: number): Promise<void> {
  const response = await sendDeletion(url, deletionOf(number));
  expect(response.status).toBe(202);
}

const copy = (from: string, to: string, ...options: string[]) =>
  runTrackport(['store', 'copy', from, to, ...options], { environment });

async function stop({ child, exited }: Trackport): Promise<void> {
  child.kill('SIGTERM');
  expect(await exited).toBe(0);
}

type Removals = { items: { id: string }[]; pagination: { nextCursor?: string } };

async function readRemovals(url: string, key: string, query: string): Promise<Removals> {
  const response = await fetch(`${url}/api/v1/leads/removals?${query}`, {
    headers: { 'x-api-key': key },
  });
  expect(response.status).toBe(200);
  return (await response.json()) as Removals;
}

/** The same configuration with another store. */
function withStore(config: string, store: string, secretKey: string): string {
  const content = JSON.parse(readFileSync(config, 'utf8')) as object;
  return configFile({ ...content, store: { url: store }, secretKey });
}

test('a service goes on where the other engine stopped, there and back: open deletions, claims, keys, cursors', async () => {
  const { tracker, config, key } = await createWorld(settings);
  const open = () => openLead(tracker);
  const [done, waiting, later, stays] = [open(), open(), open(), open()];
  const shown = async (url: string) => (await listLeads(url, key)).map(({ id }) => Number(id));
  const file = path.join(path.dirname(config), 'data', 'trackport.db');

  const first = await serve(config);
  await deleteLead(first.url, done.number);
  const isClosed = (number: number) => () =>
    expect(tracker.readIssue(number)?.state).toBe('closed');
  await eventually(isClosed(done.number));
  tracker.fault({ kind: 'status', status: 503, method: 'PATCH', count: 1e6 });
  await deleteLead(first.url, waiting.number);
  const page = await readRemovals(first.url, key, 'limit=1');
  const { url: server } = await emptyPostgres();
  const refused = await copy(`sqlite:${file}`, server);
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toContain(`Process ${first.run.child.pid} on `);
  await stop(first.run);

  const copied = await copy(`sqlite:${file}`, server);
  expect(copied).toMatchObject({ code: 0 });
  expect(copied.stderr).toContain(`secretKey: "\${file:${file}.key}"`);
  const onServer = withStore(config, server, `\${file:${file}.key}`);
  const second = await serve(onServer);
  expect(await shown(second.url)).toEqual([stays.number, later.number]);
  const rest = await readRemovals(second.url, key, `cursor=${page.pagination.nextCursor}`);
  expect(rest.items.map(({ id }) => Number(id))).toEqual([waiting.number]);
  const inUse = await copy(server, `sqlite:${path.join(temporaryFolder(), 'back.db')}`);
  expect(inUse.stderr).toMatch(/is in use: Trackport has \d+ other connections/);
  await deleteLead(second.url, later.number);
  await stop(second.run);

  const back = path.join(temporaryFolder(), 'back.db');
  const returned = await copy(server, `sqlite:${back}`);
  expect(returned).toMatchObject({ code: 0 });
  expect(returned.stderr).toContain('leave secretKey in the configuration as it is');
  tracker.clearFaults();
  const onFile = withStore(config, `sqlite:${back}`, `\${file:${file}.key}`);
  const third = await serve(onFile);
  for (const { number } of [waiting, later]) await eventually(isClosed(number));
  expect(await shown(third.url)).toEqual([stays.number]);
  const listed = await command(onFile, 'receipt', 'list');
  const { items } = JSON.parse(listed) as { items: { outcomes: object }[] };
  expect(items.map(({ outcomes }) => outcomes)).toEqual([{ DONE: 1 }, { DONE: 1 }, { DONE: 1 }]);
  await stop(third.run);
}, 180_000);

/** About 10 MB: a command works on it for a second. */
const MANY = 10_000;
const writeLargeStore = createLargeStores(MANY);

/** A stopped SQLite store that is large enough to be killed over. */
async function largeFile(): Promise<string> {
  const file = path.join(temporaryFolder(), 'trackport.db');
  await writeLargeStore(file);
  return file;
}

test('killed while it compares, a copy leaves an empty database, and can be done again', async () => {
  const statement = 'SELECT%FROM "audit" WHERE%';
  const file = await largeFile();
  const own = await emptyPostgres();
  const watcher = await connectToPostgres({ url: `${own.url}?application_name=watcher` });
  const command = trackport(['store', 'copy', `sqlite:${file}`, own.url], { environment });
  const sql =
    'SELECT 1 FROM pg_stat_activity WHERE query LIKE @statement AND pid <> pg_backend_pid()';
  await vi.waitUntil(() => watcher.get(sql, { statement }), { timeout: 60_000, interval: 2 });
  command.child.kill('SIGKILL');
  await command.exited;
  await eventually(async () => expect((await copy(`sqlite:${file}`, own.url)).code).toBe(0));
  expect(await watcher.get('SELECT count(*) AS rows FROM audit')).toEqual({ rows: MANY });
}, 180_000);

test('killed when most is written, a copy leaves an empty file, and can be done again', async () => {
  const { url } = await emptyPostgres();
  const { stdout } = await copy(`sqlite:${await largeFile()}`, url, '--json');
  expect(JSON.parse(stdout)).toMatchObject({
    tables: expect.arrayContaining([expect.objectContaining({ table: 'audit', rows: MANY })]),
  });
  const file = path.join(temporaryFolder(), 'trackport.db');
  const args = ['store', 'copy', url, `sqlite:${file}`];
  await killWhileWriting(path.dirname(file), 6_500_000, args, { environment });
  expect(statSync(file).size).toBe(0);
  await eventually(async () => expect((await copy(url, `sqlite:${file}`)).code).toBe(0));
  const again = openDatabase({ path: file });
  expect(again.handle.prepare('SELECT count(*) FROM audit').pluck().get()).toBe(MANY);
  again.close();
}, 180_000);
