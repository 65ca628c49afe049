/** Types and typed fields of the tracker, in the whole service. */
import type { FeedPage } from '#leads/lead-feed/feed-item.ts';
import type { receiptStatusOut } from '#partners/receipts/status.ts';
import type { Lead, LeadList } from '#leads/model/lead-out.ts';
import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import type { z } from 'zod';
import { whileTimePasses } from '../../support/clock.ts';
import { eventually } from '../../support/eventually.ts';
import { follow, type FeedWorld, openFeedWorld } from '../client/support.ts';
import { crmOne, sendDeletion, WEBHOOK_SECRET } from '../support/world.ts';

type ReceiptStatus = z.infer<typeof receiptStatusOut>;

const issueFields = { region: 'Region', size: 'Team size', due: 'Due', products: 'Products' };
const settings = { leads: { freshFor: '1h', issueFields: { ...issueFields, missing: 'No such' } } };

const given = {
  Region: { option: 'EMEA' },
  'Team size': 3,
  Due: '2026-12-01',
  Products: ['A', 'B'],
  Secret: 'nobody reads this',
};
const fields = { region: 'EMEA', size: 3, due: '2026-12-01', products: ['A', 'B'] };

async function read<T>({ service }: FeedWorld, path: string): Promise<T> {
  const response = await whileTimePasses(service.clock, service.get(`/api/v1/leads${path}`));
  expect(response.status).toBe(200);
  return (await response.json()) as T;
}

test('stand on a lead, alone, in the list and in the feed', async () => {
  const world = await openFeedWorld(settings);
  const id = world.lead();
  world.tracker.editIssue(Number(id), { type: 'Request', fields: given });
  await world.tracker.hooks.settled();
  const lead = await read<Lead>(world, `/${id}`);
  expect(lead).toMatchObject({ id, type: 'Request', fields });
  expect(JSON.stringify(lead)).not.toContain('nobody reads this');
  expect((await read<LeadList>(world, '')).items).toEqual([lead]);
  const feed = await read<FeedPage>(world, '/changes?from=start');
  expect(feed.items).toMatchObject([{ type: 'lead.changed', lead }]);
});

test.each<[string, Parameters<FeedWorld['tracker']['editIssue']>[1], Partial<Lead>]>([
  ['a type', { type: 'Bug' }, { type: 'Bug', fields }],
  ['a field', { fields: { 'Team size': 4 } }, { type: 'Request', fields: { ...fields, size: 4 } }],
])('are right at once after the webhook that tells %s', async (_what, edit, after) => {
  const world = await openFeedWorld(settings);
  const { tracker, service } = world;
  const id = world.lead();
  tracker.editIssue(Number(id), { type: 'Request', fields: given });
  await tracker.hooks.settled();
  const { pagination } = await read<FeedPage>(world, '/changes?from=start');
  const { changes } = follow(world.clientAt(service.url), { cursor: pagination.nextCursor });
  await read<LeadList>(world, '');
  tracker.editIssue(Number(id), edit); // in the same second
  await tracker.hooks.settled();
  expect(await read<Lead>(world, `/${id}`)).toMatchObject(after);
  expect((await read<LeadList>(world, '')).items).toMatchObject([after]);
  await eventually(async () => {
    await service.clock.advance(200);
    const last = changes.at(-1);
    expect(last?.type === 'lead.changed' && last.lead).toMatchObject(after);
  });
});

test('go when their last value and the type go', async () => {
  const world = await openFeedWorld(settings);
  const id = Number(world.lead());
  world.tracker.editIssue(id, { type: 'Request', fields: { Due: '2026-12-01' } });
  await world.tracker.hooks.settled();
  expect(await read<Lead>(world, `/${id}`)).toMatchObject({ fields: { due: '2026-12-01' } });
  world.tracker.editIssue(id, { type: null, fields: { Due: null } });
  await world.tracker.hooks.settled();
  const lead = await read<Lead>(world, `/${id}`);
  expect(lead).not.toHaveProperty('type');
  expect(lead).not.toHaveProperty('fields');
});

test('stay where the webhook says nothing of them', async () => {
  const world = await openFeedWorld(settings);
  const { tracker, service } = world;
  const id = Number(world.lead());
  tracker.editIssue(id, { fields: given });
  await tracker.hooks.settled();
  await read<Lead>(world, `/${id}`);
  await service.clock.advance(2000);
  tracker.hooks.hold();
  tracker.editIssue(id, { title: 'Another' });
  const { body } = tracker.hooks.deliveries.at(-1) ?? { body: '' };
  const payload = JSON.parse(body) as { issue: { issue_field_values?: unknown } };
  delete payload.issue.issue_field_values;
  const silent = JSON.stringify(payload);
  const digest = createHmac('sha256', WEBHOOK_SECRET).update(silent).digest('hex');
  const headers = {
    'content-type': 'application/json',
    'x-github-event': 'issues',
    'x-github-delivery': '0b9f4c1e-6d2a-4f57-9a3e-2c8d1f7b6a50',
    'x-hub-signature-256': `sha256=${digest}`,
  };
  const url = `${service.url}/api/v1/webhooks/github`;
  expect((await fetch(url, { method: 'POST', headers, body: silent })).status).toBe(202);
  await eventually(async () => {
    expect(await read<Lead>(world, `/${id}`)).toMatchObject({ title: 'Another', fields });
  });
});

async function endOf({ service }: FeedWorld, answer: Response) {
  const address = new URL(answer.headers.get('location') ?? '', service.url);
  return eventually(async () => {
    await service.clock.advance(1000);
    const status = (await (await fetch(address)).json()) as ReceiptStatus;
    expect(status.status).not.toBe('ACCEPTED');
    return status.events[0];
  });
}

test('are set by a rule of a partner, by the name that readers know', async () => {
  const events = [{ type: '*', setFields: { region: 'APAC', size: 5 } }];
  const partners = { 'crm-one': { ...crmOne, events } };
  const world = await openFeedWorld({ ...settings, partners });
  world.tracker.createField({ name: 'Region', dataType: 'single_select', options: ['APAC'] });
  world.tracker.createField({ name: 'Team size', dataType: 'number' });
  const id = world.lead();
  const answer = await sendDeletion(world.service.url, { leadId: id }, { path: 'events' });
  expect(await endOf(world, answer)).toMatchObject({ outcome: 'DONE' });
  await world.tracker.hooks.settled();
  expect((await read<Lead>(world, `/${id}`)).fields).toEqual({ region: 'APAC', size: 5 });
});

test.each([
  ['may', {}, { erasure: 'incomplete-history', remains: ['history'] }],
  [
    'may not',
    { kind: 'status', status: 403, method: 'DELETE', path: 'field-values', count: 99 } as const,
    { erasure: 'impossible', remains: ['history', 'fields'], lastError: 'fields-remain' },
  ],
])('are cleared by redact where the credential %s', async (_what, fault, report) => {
  const deletions = { actions: ['redact'] };
  const world = await openFeedWorld({
    ...settings,
    partners: { 'crm-one': { ...crmOne, deletions } },
  });
  const { tracker, service } = world;
  const id = world.lead();
  tracker.editIssue(Number(id), { fields: given });
  if ('kind' in fault) tracker.fault(fault);
  const event = await endOf(world, await sendDeletion(service.url, { leadId: id }));
  expect(event).toMatchObject({ outcome: 'DONE', ...report });
  expect(event?.remains).toEqual(report.remains);
  const left = tracker.readIssue(Number(id))?.fieldValues.map(({ field }) => field.name);
  expect(left).toEqual(
    'kind' in fault ? ['Region', 'Team size', 'Due', 'Products', 'Secret'] : ['Region', 'Products'],
  );
  expect(service.logText()).not.toContain('nobody reads this');
});
