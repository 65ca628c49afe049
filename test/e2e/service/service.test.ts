import { expect, test } from 'vitest';
import {
  createWorld,
  listLeads,
  openLead,
  revokeKey,
  serve,
  WEBHOOK_SECRET,
} from '../support/world.ts';

test('a key that is revoked by another process is refused within a second', async () => {
  const { tracker, config, key } = await createWorld();
  openLead(tracker, { title: 'Demo', email: 'ada@example.org' });
  const { url } = await serve(config);
  expect(await listLeads(url, key)).toHaveLength(1);
  await revokeKey(config);
  const answer = await fetch(`${url}/api/v1/leads`, { headers: { 'x-api-key': key } });
  expect(answer.status).toBe(401);
});

test('no log line holds a key, a secret or anything of a lead', async () => {
  const { tracker, config, key } = await createWorld();
  openLead(tracker, { title: 'Demo', email: 'ada@example.org' });
  const { run, url } = await serve(config);
  tracker.addWebhook(`${url}/api/v1/webhooks/github`, WEBHOOK_SECRET);
  openLead(tracker, { title: 'Other', email: 'bob@example.org' });
  await tracker.hooks.settled();
  await listLeads(url, key);
  await fetch(`${url}/api/v1/leads?label=nope&wrong=ada@example.org`, {
    headers: { 'x-api-key': key },
  });
  run.child.kill('SIGTERM');

  expect(await run.exited).toBe(0);
  const everything = run.stdout() + run.stderr();
  for (const hidden of [key, WEBHOOK_SECRET, 'e2e-token', 'example.org', 'Demo', 'Ada'])
    expect(everything).not.toContain(hidden);
});
