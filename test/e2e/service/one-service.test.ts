/** One service a SQLite file. Several instances on PostgreSQL: `instances.test.ts`. */
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { runHere } from '../support/command.ts';
import { listening, trackport } from '../support/process.ts';
import {
  command,
  createWorld,
  crmOne,
  listLeads,
  openLead,
  sendDeletion,
  serve,
  workerAt,
} from '../support/world.ts';

vi.setConfig({ testTimeout: 240_000 });

const settings = {
  partners: { 'crm-one': { ...crmOne, deletions: { actions: ['relabel', 'close', 'comment'] } } },
};

const start = (config: string) => trackport(['serve', '--config', config, '--port', '0']);

const WAITS = 'waiting for who has the store';

test('after a kill the next start has the store at once, and ends what was under way', async () => {
  const { tracker, config, key } = await createWorld(settings);
  const [gone, stays] = [openLead(tracker).number, openLead(tracker).number];
  const killed = await serve(config);
  // It dies with a comment under way that the tracker gets and nobody hears of.
  const gate = tracker.hold({ method: 'POST', path: '/comments$' });
  expect((await sendDeletion(killed.url, gone)).status).toBe(202);
  await gate.arrived();
  killed.run.child.kill('SIGKILL');
  await killed.run.exited;
  gate.open();

  const next = await serve(config);
  expect(next.run.log().map(({ msg }) => msg)).not.toContain(WAITS);
  expect(await workerAt(next.url)).toBe('ok');
  expect((await listLeads(next.url, key)).map(({ id }) => Number(id))).toEqual([stays]);
  await eventually(() => expect(tracker.readIssue(gone)?.state).toBe('closed'));
  expect(tracker.readIssue(gone)?.comments).toHaveLength(1);
});

test('a second service waits for the first to end, and then serves', async () => {
  const { config } = await createWorld(settings);
  const first = await serve(config);
  const second = start(config);
  expect(await second.logged(WAITS)).toMatchObject({
    holder: expect.stringContaining(`Process ${first.run.child.pid} on `) as string,
  });
  first.run.child.kill('SIGTERM');
  expect(await first.run.exited).toBe(0);
  expect(await workerAt(await listening(second))).toBe('ok');
});

test('a second service that waits is stopped at once, and one that waits in vain exits with 2 and says for whom', async () => {
  const { config } = await createWorld(settings);
  const first = await serve(config);
  const [stopped, inVain] = [start(config), start(config)];
  await stopped.logged(WAITS);
  stopped.child.kill('SIGTERM');
  expect(await stopped.exited).toBe(0);
  expect(stopped.stderr()).toBe('');

  expect(await inVain.exited).toBe(2);
  expect(inVain.stderr()).toMatch(
    new RegExp(`^The store .* cannot be used: Process ${first.run.child.pid} on \\S+ \\(since 2`),
  );
  expect(inVain.stderr().trimEnd().split('\n')).toHaveLength(1);
});

test('commands work beside the service, but those that need the store for themselves', async () => {
  const { config, key } = await createWorld(settings);
  const { run, url } = await serve(config);
  expect(await listLeads(url, key)).toEqual([]);
  const backup = path.join(temporaryFolder(), 'copy.backup');
  await command(config, 'backup', backup);
  await command(config, 'consumer', 'create', 'another', '--grant', 'leads:read');
  const { items } = JSON.parse(await command(config, 'consumer', 'list')) as {
    items: { id: string; name: string }[];
  };
  expect(items.map(({ name }) => name)).toEqual(['sales', 'another']);
  await command(config, 'consumer', 'revoke', items[0]?.id ?? '');
  await expect(listLeads(url, key)).rejects.toThrow('401'); // from now on
  for (const args of [
    ['restore', backup],
    ['store', 'rekey', '--yes'],
  ]) {
    const end = await runHere([...args, '--config', config]);
    expect(end.code).toBe(1);
    expect(end.stderr).toContain(`Process ${run.child.pid} on `);
  }
});
