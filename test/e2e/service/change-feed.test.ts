/** What the tracker's webhook tells one process, every process on the store knows. */
import path from 'node:path';
import { BATCHES_KEPT, createChangeLog } from '#adapters/store/change-log.ts';
import type { ChangeLog } from '#leads/instance-changes/instance-change.ts';
import { SECOND } from '#shared/clock.ts';
import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { connectToPostgres, migratedPostgres } from '../../support/postgres/database.ts';
import { connectTo } from '../../support/stores.ts';
import { createWorld, listLeads, openLead, serve, WEBHOOK_SECRET } from '../support/world.ts';

const instanceId = 'this test';

type StoreOfTest = { url: string; openLog: () => Promise<ChangeLog> };

const stores = {
  SQLite: async (): Promise<StoreOfTest> => {
    const file = path.join(temporaryFolder(), 'trackport.db');
    const openLog = async () => createChangeLog(connectTo(file), { instanceId });
    return { url: `sqlite:${file}`, openLog };
  },
  PostgreSQL: async (): Promise<StoreOfTest> => {
    const { url } = await migratedPostgres();
    const openLog = async () => createChangeLog(await connectToPostgres({ url }), { instanceId });
    return { url, openLog };
  },
};

/** Two processes, which trust what they read for an hour; only the first one hears of changes. */
async function setUp({ url: storeUrl, openLog }: StoreOfTest) {
  const secretKey = Buffer.alloc(32, 7).toString('base64');
  const { tracker, config, key } = await createWorld({ store: { url: storeUrl }, secretKey });
  const lead = (title: string): number => openLead(tracker, { title }).number;
  const numbers = [lead('edited'), lead('unlabelled'), lead('deleted')];
  const first = await serve(config);
  const second = await serve(config);
  tracker.addWebhook(`${first.url}/api/v1/webhooks/github`, WEBHOOK_SECRET);
  const titles = async (url: string) => (await listLeads(url, key)).map(({ title }) => title);
  for (const { url } of [first, second])
    expect(new Set(await titles(url))).toEqual(new Set(['edited', 'unlabelled', 'deleted']));
  return { tracker, numbers, first, second, titles, changes: await openLog() };
}

test.each(['SQLite', 'PostgreSQL'] as const)(
  'on %s an edit, a label that is taken away and a deletion reach a process that no webhook reaches',
  async (engine) => {
    const { tracker, numbers, second, titles } = await setUp(await stores[engine]());
    const [edited = 0, unlabelled = 0, deleted = 0] = numbers;
    tracker.editIssue(edited, { title: 'anew' });
    await eventually(async () => expect(await titles(second.url)).toContain('anew'));
    tracker.editIssue(unlabelled, { labels: [] });
    await eventually(async () => expect(await titles(second.url)).not.toContain('unlabelled'));
    tracker.deleteIssue(deleted);
    await eventually(async () => expect(await titles(second.url)).toEqual(['anew']));
  },
);

test.each([
  ['finds the changes', 'SQLite', 0],
  ['finds that changes are missing', 'PostgreSQL', BATCHES_KEPT],
] as const)(
  'a process that was stopped %s before it answers, on %s',
  async (_what, engine, others) => {
    const { tracker, numbers, first, second, titles, changes } = await setUp(
      await stores[engine](),
    );
    const [, unlabelled = 0] = numbers;
    const before = await changes.lastPosition();
    second.run.child.kill('SIGSTOP');
    const stoppedAt = performance.now();
    const answered = titles(second.url); // arrives while the process is stopped
    try {
      tracker.editIssue(unlabelled, { labels: [] });
      await eventually(async () => {
        expect(await changes.lastPosition()).toBeGreaterThan(before);
        expect(await titles(first.url)).not.toContain('unlabelled');
        expect(performance.now() - stoppedAt).toBeGreaterThan(SECOND);
      });
      for (let at = 0; at < others; at += 1) await changes.append('[]');
    } finally {
      second.run.child.kill('SIGCONT');
    }
    expect(new Set(await answered)).toEqual(new Set(['edited', 'deleted']));
    const metrics = await (await fetch(`${second.url}/metrics`)).text();
    expect(metrics).toContain(`trackport_change_feed_gaps_total ${others > 0 ? 1 : 0}`);
  },
);
