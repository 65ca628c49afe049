/** A store goes from SQLite to PostgreSQL under a service, and the command is killed in the middle. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import type { FeedPage } from '#leads/lead-feed/feed-item.ts';
import { eventually } from '../../support/eventually.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { connectToPostgres, emptyPostgres } from '../../support/postgres/database.ts';
import { createLargeStores } from '../support/large-store.ts';
import { configFile, runTrackport, trackport, type Trackport } from '../support/process.ts';
import {
  command,
  createWorld,
  listLeads,
  openLead,
  sendDeletion,
  serve,
} from '../support/world.ts';

const settings = {
  deletions: { retry: Array.from({ length: 10 }, () => '3s') },
};

async function deleteLead(url: string, number: number): Promise<void> {
  const response = await sendDeletion(url, number);
  expect(response.status).toBe(202);
}

const copy = (from: string, to: string) => runTrackport(['store', 'copy', from, to]);

async function stop({ child, exited }: Trackport): Promise<void> {
  child.kill('SIGTERM');
  expect(await exited).toBe(0);
}

async function readChanges(url: string, key: string, query: string): Promise<FeedPage> {
  const headers = { 'x-api-key': key };
  const response = await fetch(`${url}/api/v1/leads/changes?${query}`, { headers });
  expect(response.status).toBe(200);
  return (await response.json()) as FeedPage;
}

/** The same configuration with another store. */
function withStore(config: string, store: string, secretKey: string): string {
  const content = JSON.parse(readFileSync(config, 'utf8')) as object;
  return configFile({ ...content, store: { url: store }, secretKey });
}

test('a service goes on on PostgreSQL where the one on SQLite stopped: open deletions, claims, keys, cursors', async () => {
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
  const { pagination } = await readChanges(first.url, key, '');
  await deleteLead(first.url, waiting.number);
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
  const rest = await readChanges(second.url, key, `cursor=${pagination.nextCursor}`);
  expect(rest.items).toContainEqual(
    expect.objectContaining({ type: 'lead.removed', id: String(waiting.number) }),
  );
  await deleteLead(second.url, later.number);
  tracker.clearFaults();
  for (const { number } of [waiting, later]) await eventually(isClosed(number));
  expect(await shown(second.url)).toEqual([stays.number]);
  const listed = await command(onServer, 'receipt', 'list');
  const { items } = JSON.parse(listed) as { items: { outcomes: object }[] };
  expect(items.map(({ outcomes }) => outcomes)).toEqual([{ DONE: 1 }, { DONE: 1 }, { DONE: 1 }]);
  await stop(second.run);
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

test('killed in the middle, a copy leaves an empty database, and can be done again', async () => {
  const statement = 'INSERT INTO audit%';
  const file = await largeFile();
  const own = await emptyPostgres();
  const watcher = await connectToPostgres({ url: `${own.url}?application_name=watcher` });
  const command = trackport(['store', 'copy', `sqlite:${file}`, own.url]);
  const sql =
    'SELECT 1 FROM pg_stat_activity WHERE query LIKE @statement AND pid <> pg_backend_pid()';
  await vi.waitUntil(() => watcher.get(sql, { statement }), { timeout: 60_000, interval: 2 });
  command.child.kill('SIGKILL');
  await command.exited;
  await eventually(async () => expect((await copy(`sqlite:${file}`, own.url)).code).toBe(0));
  expect(await watcher.get('SELECT count(*) AS rows FROM audit')).toEqual({ rows: MANY });
}, 180_000);
