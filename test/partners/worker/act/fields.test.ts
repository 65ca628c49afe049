/** Typed fields of the tracker: what `redact` clears of them, and what rules set. */
import { describe, expect, test } from 'vitest';
import { REDACTED_BODY } from '#partners/worker/act/issue-edit.ts';
import { leadIssue } from '../../../support/deletions/tracker.ts';
import {
  type DeletionOptions,
  type DeletionWorld,
  openDeletions,
} from '../../../support/deletions/world.ts';
import { eventually } from '../../../support/eventually.ts';
import { operatorsOf } from '../../../support/partners.ts';

const TYPED = { Notes: 'Ada prefers the telephone', Size: 3, Due: '2026-12-01' };
const CHOSEN = { Region: { option: 'EMEA' }, Products: ['A', 'B'] };
const CLEAR = /\/issue-field-values\/\d+$/;
const FIELDS_PATH = 'issue-field-values/';

async function openWorld(options: DeletionOptions = {}): Promise<DeletionWorld> {
  const world = await openDeletions({ actions: ['relabel', 'close', 'redact'], ...options });
  await world.start();
  return world;
}

const openLead = ({ tracker }: DeletionWorld): number =>
  tracker.createIssue({ ...leadIssue(), fields: { ...TYPED, ...CHOSEN } }).number;

const fieldsOf = ({ tracker }: DeletionWorld, number: number): string[] =>
  (tracker.readIssue(number)?.fieldValues ?? []).map(({ field }) => field.name);

async function deleteLead(world: DeletionWorld, number: number) {
  await world.filler.catchUp(); // what is not known in time is read by its number
  const receipt = await world.settled(await world.send({ leadId: String(number) }));
  return receipt.events[0];
}

describe('redact', () => {
  test('clears texts, numbers and dates, one call for each behind the one PATCH, and leaves what was chosen', async () => {
    const world = await openWorld();
    const number = openLead(world);
    expect(await deleteLead(world, number)).toMatchObject({
      outcome: 'DONE',
      erasure: 'incomplete-history',
      attempts: 1,
    });
    expect(fieldsOf(world, number)).toEqual(['Region', 'Products']);
    const { calls } = world.tracker;
    expect(calls.count({ method: 'PATCH' })).toBe(1);
    expect(calls.count({ method: 'DELETE', path: CLEAR })).toBe(3);
    const path = new RegExp(`/issues/${number}$`);
    expect(calls.count({ method: 'GET', path })).toBe(1);
  });

  test('clears what a person typed into a field of an issue that is redacted already', async () => {
    const world = await openWorld();
    const number = openLead(world);
    await deleteLead(world, number);
    world.tracker.editIssue(number, { fields: { Notes: 'called Ada' } });
    expect(await deleteLead(world, number)).toMatchObject({ outcome: 'DONE' });
    expect(fieldsOf(world, number)).toEqual(['Region', 'Products']);
  });

  test('clears what a person typed between the read and the write', async () => {
    const world = await openWorld();
    const { number } = world.tracker.createIssue(leadIssue());
    const barrier = world.tracker.hold({ method: 'GET', path: `/issues/${number}$` });
    const id = await world.send({ leadId: String(number) });
    await barrier.arrived();
    world.tracker.editIssue(number, { fields: TYPED });
    barrier.open();
    expect((await world.settled(id)).events[0]).toMatchObject({ outcome: 'DONE' });
    expect(fieldsOf(world, number)).toEqual([]);
  });

  test('leaves fields alone where it is not asked for', async () => {
    const world = await openWorld({ actions: ['relabel', 'close'] });
    const number = openLead(world);
    await deleteLead(world, number);
    expect(fieldsOf(world, number)).toHaveLength(5);
  });

  test.each<[string, Parameters<DeletionWorld['tracker']['fault']>[0]]>([
    ['fails', { kind: 'status', status: 500, path: FIELDS_PATH }],
    ['is refused once', { kind: 'status', status: 403, path: FIELDS_PATH }],
    ['is lost on its way back', { kind: 'reset', when: 'after', path: FIELDS_PATH }],
  ])('is not done before all are cleared: a call that %s is made again', async (_what, fault) => {
    const world = await openWorld();
    const number = openLead(world);
    world.tracker.fault({ skip: 1, ...fault, method: 'DELETE' });
    const event = await deleteLead(world, number);
    expect(event).toMatchObject({ outcome: 'DONE', erasure: 'incomplete-history' });
    expect(event?.remains).toEqual(['history']);
    expect(fieldsOf(world, number)).toEqual(['Region', 'Products']);
    expect(world.tracker.calls.count({ method: 'PATCH' })).toBe(1);
  });

  test('goes on where the worker ended between two fields', async () => {
    const world = await openWorld({ requestTimeoutMs: 1500 });
    const number = openLead(world);
    const barrier = world.tracker.hold({ method: 'DELETE', path: FIELDS_PATH });
    const id = await world.send({ leadId: String(number) });
    await barrier.arrived();
    await world.stop();
    expect((await world.read(id)).events[0]).toMatchObject({ outcome: 'PENDING', attempts: 0 });
    barrier.open();
    const next = await openWorld({ of: world });
    expect((await next.settled(id)).events[0]).toMatchObject({ outcome: 'DONE', attempts: 1 });
    expect(fieldsOf(next, number)).toEqual(['Region', 'Products']);
    expect(world.tracker.calls.count({ method: 'PATCH' })).toBe(1);
  });

  test('ends as a dead letter while a field cannot be cleared, and is done by a replay', async () => {
    const world = await openWorld({ worker: { retryMs: [5] } });
    const number = openLead(world);
    world.tracker.fault({ kind: 'status', status: 500, path: FIELDS_PATH, count: 4 });
    const id = await world.send({ leadId: String(number) });
    const [event] = (await world.settled(id)).events;
    expect(event).toMatchObject({ outcome: 'FAILED', lastError: 'tracker-server' });
    expect(event).not.toHaveProperty('erasure', 'incomplete-history');
    world.tracker.clearFaults();
    const actor = { kind: 'system', subject: 'test' } as const;
    await operatorsOf(world.receipts.db, Date.now()).replay(id, { actor });
    await world.wake();
    await eventually(async () => {
      expect((await world.read(id)).events[0]).toMatchObject({ outcome: 'DONE' });
    });
    expect(fieldsOf(world, number)).toEqual(['Region', 'Products']);
  });

  test('where the credential may not, does the rest, says so, and pauses nothing', async () => {
    const world = await openWorld({ actions: ['relabel', 'close', 'redact', 'comment'] });
    world.tracker.fault({ kind: 'status', status: 403, path: FIELDS_PATH, count: 1000 });
    for (const number of [openLead(world), openLead(world), openLead(world)]) {
      expect(await deleteLead(world, number)).toMatchObject({
        outcome: 'DONE',
        erasure: 'impossible',
        lastError: 'fields-remain',
        attempts: 3,
      });
      const issue = world.tracker.readIssue(number);
      expect(issue).toMatchObject({ body: REDACTED_BODY, state: 'closed' });
      expect(issue?.comments).toHaveLength(1);
      expect(fieldsOf(world, number)).toHaveLength(5);
    }
    expect(await world.partners.workerStatus()).toMatchObject({ state: 'running' });
  });

  test('that the issue’s removal makes needless clears nothing', async () => {
    const world = await openWorld({
      actions: ['redact', 'delete'],
      adminToken: 'token-of-an-admin',
    });
    const number = openLead(world);
    expect(await deleteLead(world, number)).toMatchObject({ erasure: 'complete' });
    expect(world.tracker.calls.count({ method: 'DELETE' })).toBe(0);
  });
});

describe('a rule', () => {
  const setFields = { region: 'EMEA', Size: 4, Due: '2026-12-01', Products: ['B', 'a'] };

  async function openRuled(rule: object = { setFields }): Promise<DeletionWorld> {
    const world = await openWorld({ events: { 'crm-one': [{ type: '*', ...rule }] } });
    const { tracker } = world;
    tracker.createField({ name: 'Region', dataType: 'single_select', options: ['EMEA', 'APAC'] });
    tracker.createField({ name: 'Products', dataType: 'multi_select', options: ['A', 'B', 'a'] });
    tracker.createField({ name: 'Size', dataType: 'number' });
    tracker.createField({ name: 'Due', dataType: 'date' });
    return world;
  }

  const openPlain = (world: DeletionWorld): number => world.tracker.createIssue(leadIssue()).number;

  async function sendEvent(world: DeletionWorld, number: number, eventId = 'e1') {
    const id = await world.send({ eventId, leadId: String(number) }, 'crm-one', 'events');
    return (await world.settled(id)).events[0];
  }

  const valuesOf = ({ tracker }: DeletionWorld, number: number) =>
    Object.fromEntries(
      (tracker.readIssue(number)?.fieldValues ?? []).map(({ field, value }) => [field.name, value]),
    );

  test('sets fields of every kind by one call more, and what is already so by none', async () => {
    const world = await openRuled({ setFields, addLabels: ['won'] });
    const number = openPlain(world);
    expect(await sendEvent(world, number)).toMatchObject({ outcome: 'DONE', attempts: 1 });
    expect(valuesOf(world, number)).toEqual({
      Region: 'EMEA',
      Size: 4,
      Due: '2026-12-01',
      Products: ['B', 'a'],
    });
    expect(await sendEvent(world, number, 'e2')).toMatchObject({ outcome: 'DONE' });
    const { calls } = world.tracker;
    const path = new RegExp(`/issues/${number}$`);
    expect(calls.count({ method: 'GET', path })).toBe(2);
    expect(calls.count({ method: 'PATCH' })).toBe(1);
    expect(calls.count({ method: 'POST', path: /issue-field-values$/ })).toBe(1);
    expect(calls.count({ path: /^\/orgs/ })).toBe(1);
  });

  test('changes a value that somebody gave, and leaves other fields alone', async () => {
    const world = await openRuled({ setFields: { Region: 'APAC' } });
    const number = openPlain(world);
    world.tracker.editIssue(number, { fields: { Region: { option: 'EMEA' }, Size: 9 } });
    await sendEvent(world, number);
    expect(valuesOf(world, number)).toEqual({ Region: 'APAC', Size: 9 });
    expect(world.tracker.calls.count({ path: /^\/orgs/ })).toBe(0); // the issue tells its number
  });

  test('that sets a field again after a failure writes the rest once', async () => {
    const world = await openRuled({ setFields, addLabels: ['won'], comment: 'Won.' });
    const number = openPlain(world);
    world.tracker.fault({ kind: 'status', status: 500, method: 'POST', path: 'field-values$' });
    expect(await sendEvent(world, number)).toMatchObject({ outcome: 'DONE', attempts: 2 });
    expect(world.tracker.calls.count({ method: 'PATCH' })).toBe(1);
    expect(world.tracker.readIssue(number)?.comments).toHaveLength(1);
  });

  test.each<[string, object, Parameters<DeletionWorld['tracker']['fault']>[0] | undefined, string]>(
    [
      ['a field that there is not', { Nothing: 'x' }, undefined, 'field-unknown'],
      ['an option that there is not', { Region: 'Nowhere' }, undefined, 'refused'],
      [
        'fields that the credential may not see',
        { Region: 'EMEA' },
        { kind: 'status', status: 403, path: '^/orgs', count: 99 },
        'field-unknown',
      ],
      [
        'fields that the credential may not set',
        { Region: 'EMEA' },
        { kind: 'status', status: 403, path: 'field-values', count: 99 },
        'fields-refused',
      ],
    ],
  )('with %s ends as a dead letter, and pauses nothing', async (_what, fields, fault, code) => {
    const world = await openRuled({ setFields: fields });
    if (fault) world.tracker.fault(fault);
    for (const eventId of ['e1', 'e2', 'e3', 'e4'])
      expect(await sendEvent(world, openPlain(world), eventId)).toMatchObject({
        outcome: 'FAILED',
        lastError: code,
      });
    expect(await world.partners.workerStatus()).toMatchObject({ state: 'running' });
  });

  test('never touches a lead that a deletion has claimed', async () => {
    const world = await openRuled();
    const number = openPlain(world);
    await deleteLead(world, number);
    expect(await sendEvent(world, number)).toMatchObject({ outcome: 'IGNORED' });
    expect(valuesOf(world, number)).toEqual({});
  });
});
