/** News that the tracker's webhook tells one instance are known to every instance on the store. */
import { BATCHES_KEPT, type ChangeBatch, createChangeLog } from '#leads/instance-changes.ts';
import { SECOND } from '#shared/clock.ts';
import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { connectToPostgres, migratedPostgres } from '../../support/postgres/database.ts';
import { createWorld, listLeads, openLead, serve, WEBHOOK_SECRET } from '../support/world.ts';

const instanceId = 'this test';

/** Two instances, which trust what they read for an hour; only the first one hears of changes. */
async function setUp() {
  const { url: storeUrl } = await migratedPostgres();
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
  const changes = createChangeLog(await connectToPostgres({ url: storeUrl }), { instanceId });
  return { tracker, numbers, first, second, titles, changes };
}

test('an edit, a label that is taken away and a deletion reach an instance that no webhook reaches', async () => {
  const { tracker, numbers, second, titles } = await setUp();
  const [edited = 0, unlabelled = 0, deleted = 0] = numbers;
  tracker.editIssue(edited, { title: 'anew' });
  await eventually(async () => expect(await titles(second.url)).toContain('anew'));
  tracker.editIssue(unlabelled, { labels: [] });
  await eventually(async () => expect(await titles(second.url)).not.toContain('unlabelled'));
  tracker.deleteIssue(deleted);
  await eventually(async () => expect(await titles(second.url)).toEqual(['anew']));
});

test('an instance that was stopped finds that changes are missing before it answers', async () => {
  const { tracker, numbers, first, second, titles, changes } = await setUp();
  const [, unlabelled = 0] = numbers;
  const readNew = await changes.openReader();
  const published: ChangeBatch[] = [];
  second.run.child.kill('SIGSTOP');
  const stoppedAt = performance.now();
  const answered = titles(second.url); // arrives while the process is stopped
  try {
    tracker.editIssue(unlabelled, { labels: [] });
    await eventually(async () => {
      published.push(...(await readNew()));
      expect(published).not.toEqual([]);
      expect(await titles(first.url)).not.toContain('unlabelled');
      expect(performance.now() - stoppedAt).toBeGreaterThan(SECOND);
    });
    for (let at = 0; at < BATCHES_KEPT; at += 1) await changes.append([]);
  } finally {
    second.run.child.kill('SIGCONT');
  }
  expect(new Set(await answered)).toEqual(new Set(['edited', 'deleted']));
  const metrics = await (await fetch(`${second.url}/metrics`)).text();
  expect(metrics).toContain(`trackport_change_feed_gaps_total 1`);
});
