import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import {
  createWorld,
  crmOne,
  leadBody,
  listLeads,
  openLead,
  revokeKey,
  sendDeletion,
  serve,
  WEBHOOK_SECRET,
} from '../support/world.ts';

test('a lead is read from the tracker, and a change is seen at once after its webhook', async () => {
  const { tracker, config, key } = await createWorld();
  const issue = tracker.createIssue({
    title: 'Demo, please',
    body: leadBody('ada@example.org'),
    labels: ['approved'],
  });
  const { url } = await serve(config);
  tracker.addWebhook(`${url}/api/v1/webhooks/github`, WEBHOOK_SECRET);

  const [lead] = await listLeads(url, key);
  expect(lead).toMatchObject({ id: String(issue.number), contact: { email: 'ada@example.org' } });
  const detail = await fetch(`${url}/api/v1/leads/${issue.number}`, {
    headers: { 'x-api-key': key },
  });
  expect(await detail.json()).toEqual(lead);

  tracker.editIssue(issue.number, { title: 'Changed' });
  await tracker.hooks.settled();
  await eventually(async () => {
    expect((await listLeads(url, key))[0]?.title).toBe('Changed');
  });
  tracker.relabel(issue.number, { remove: ['approved'] });
  await tracker.hooks.settled();
  await eventually(async () => expect(await listLeads(url, key)).toEqual([]));
});

test('a signed deletion hides the lead and closes its issue', async () => {
  const { tracker, config, key } = await createWorld({
    partners: { 'crm-one': crmOne },
  });
  const { number } = openLead(tracker, { title: 'Demo', email: 'ada@example.org' });
  const { url } = await serve(config);

  const event = { eventType: 'lead.deletion', email: 'ADA@example.org' };
  const answer = await sendDeletion(url, event);

  expect(answer.status).toBe(202);
  expect(await answer.json()).toMatchObject({ partnerId: 'crm-one', status: 'ACCEPTED' });
  await eventually(() => {
    const issue = tracker.issues().find((candidate) => candidate.number === number);
    expect(issue?.state).toBe('closed');
    expect(issue?.labels.map(({ name }) => name)).toEqual(['deleted-by-partner']);
  });
  expect(await listLeads(url, key)).toEqual([]);
});

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
