/** Backup and restore beside a real service, and killed in the middle. */
import { eventually } from '../../support/eventually.ts';
import { copyFileSync, existsSync, readdirSync, renameSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import type { FeedPage } from '#leads/lead-feed/feed-item.ts';
import { createLargeStores } from '../support/large-store.ts';
import { runHere } from '../support/command.ts';
import { runTrackport, trackport, type Trackport } from '../support/process.ts';
import {
  createWorld,
  listLeads,
  openLead,
  sendDeletion,
  serve,
  storeFileOf,
} from '../support/world.ts';

type Receipts = { items: { id: string }[] };

async function deleteLead(url: string, number: number): Promise<string> {
  const response = await sendDeletion(url, number);
  expect(response.status).toBe(202);
  return ((await response.json()) as { id: string }).id;
}

const run = (config: string, ...args: string[]) => runHere([...args, '--config', config]);

async function receiptIds(config: string): Promise<string[]> {
  const { stdout } = await run(config, 'receipt', 'list', '--json');
  return (JSON.parse(stdout) as Receipts).items.map(({ id }) => id);
}

async function stop({ child, exited }: Trackport): Promise<void> {
  child.kill('SIGTERM');
  expect(await exited).toBe(0);
}

test('what was acknowledged before a backup began is there after a restore, and no deleted lead', async () => {
  const world = await createWorld();
  const { tracker, config, key } = world;
  const folder = path.dirname(config);
  const backup = path.join(folder, 'copy.backup');
  const open = () => openLead(tracker);
  const [before, during, after, stays] = [open(), open(), open(), open()];
  const first = await serve(config);
  const changes = (url: string, query: string) =>
    fetch(`${url}/api/v1/leads/changes?${query}`, { headers: { 'x-api-key': key } });
  const { pagination } = (await (await changes(first.url, 'from=start')).json()) as FeedPage;
  const acknowledged = await deleteLead(first.url, before.number);
  const [made] = await Promise.all([
    runTrackport(['backup', backup, '--config', config]),
    deleteLead(first.url, during.number),
  ]);
  expect(made).toMatchObject({ code: 0 });
  expect(made.stderr).toContain('The secret key is not in it');
  await deleteLead(first.url, after.number);
  for (const { number } of [before, during, after])
    await eventually(() => expect(tracker.readIssue(number)?.state).toBe('closed'));

  const refused = await runTrackport(['restore', backup, '--config', config]);
  expect(refused).toMatchObject({ code: 1 });
  expect(refused.stderr).toContain(`Process ${first.run.child.pid} on `);
  await stop(first.run);

  // The folder is lost with what came after the backup; the key was stored elsewhere.
  renameSync(path.join(folder, 'data'), path.join(folder, 'lost'));
  expect(await run(config, 'restore', backup)).toMatchObject({ code: 0 });
  renameSync(
    path.join(folder, 'lost', 'trackport.db.key'),
    path.join(folder, 'data', 'trackport.db.key'),
  );
  expect(await receiptIds(config)).toContain(acknowledged);

  // A person puts the approved label back on all of them, and opens them.
  for (const { number } of [before, during, after])
    tracker.editIssue(number, { state: 'open', labels: ['approved', 'deleted-by-partner'] });
  const second = await serve(config);
  const ids = (await listLeads(second.url, key)).map(({ id }) => Number(id));
  expect(ids).toEqual([stays.number]);
  // A copy may hold what only the lost store could have told to be gone.
  await eventually(async () => {
    const answer = await changes(second.url, `cursor=${pagination.nextCursor}`);
    expect(answer.status).toBe(410);
  });
  await stop(second.run);
}, 180_000);

/** About 60 MB: a command works on it for longer than it takes to see its file grow. */
const writeLargeStore = createLargeStores(60_000);

/** A store that is large enough to be killed over, and where its backup goes. */
async function largeStore() {
  const { config } = await createWorld();
  const folder = path.dirname(config);
  const store = storeFileOf(config);
  await writeLargeStore(store);
  return { config, folder, store, backup: path.join(folder, 'copy.backup') };
}

test('a backup that finds no room says so in one line, and leaves nothing', async () => {
  const { config } = await createWorld();
  const folder = path.dirname(config);
  const file = path.join(folder, 'copy.backup');
  const args = ['backup', file, '--config', config];
  const limits = '-f 600'; // 300 KiB: less than an empty store has
  const { code, stderr } = await runTrackport(args, { limits });
  const why = `${file} cannot be written, or the store cannot be read (SQLITE_IOERR).\n`;
  expect([code, stderr]).toEqual([1, why]);
  expect(readdirSync(folder).toSorted()).toEqual(['data', 'trackport.yaml']);
});

/** Kills a command as soon as a file of the folder that is not whole yet has grown to this size. */
async function killWhileWriting(
  folder: string,
  bytes: number,
  args: readonly string[],
): Promise<void> {
  const { child, exited } = trackport(args);
  await vi.waitUntil(() => sizeOfDraft(folder) >= bytes, { timeout: 60_000, interval: 1 });
  child.kill('SIGKILL');
  await exited;
  expect(child.signalCode).toBe('SIGKILL');
}

function sizeOfDraft(folder: string): number {
  if (!existsSync(folder)) return -1;
  const drafts = readdirSync(folder).filter((name) => name.includes('.part'));
  const stats = drafts.map((name) => statSync(path.join(folder, name), { throwIfNoEntry: false }));
  return Math.max(-1, ...stats.map((stat) => stat?.size ?? -1));
}

/** Of about 30 MB: most is written. */
const LATE_BYTES = 20_000_000;

test('a backup that is killed leaves no file of its name, and the store as it was', async () => {
  const { config, folder, backup } = await largeStore();
  await killWhileWriting(folder, LATE_BYTES, ['backup', backup, '--config', config]);
  expect(existsSync(backup)).toBe(false);
  expect(await run(config, 'backup', backup)).toMatchObject({ code: 0 });
}, 60_000);

test('a restore that is killed leaves an empty store, and can be done again', async () => {
  const { config, folder, store, backup } = await largeStore();
  expect(await run(config, 'backup', backup)).toMatchObject({ code: 0 });
  renameSync(path.dirname(store), path.join(folder, 'lost'));
  const args = ['restore', backup, '--config', config];
  await killWhileWriting(path.dirname(store), LATE_BYTES, args);
  expect(statSync(store).size).toBe(0);
  expect(JSON.parse((await run(config, 'consumer', 'list', '--json')).stdout)).toMatchObject({
    items: [],
  });
  expect(await run(config, 'restore', backup)).toMatchObject({ code: 0 });
  copyFileSync(path.join(folder, 'lost', 'trackport.db.key'), `${store}.key`);
  const listed = await run(config, 'audit', 'list', '--json', '--action', 'key.create');
  expect((JSON.parse(listed.stdout) as { items: unknown[] }).items.length).toBeGreaterThan(0);
}, 60_000);
