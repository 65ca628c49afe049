/** Two instances of one store whose files differ: a partner is known to one of them first. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { emptyPostgres } from '../../support/postgres/database.ts';
import { configFile, type Trackport } from '../support/process.ts';
import {
  command,
  createWorld,
  crmOne,
  leadBody,
  openLead,
  sendDeletion,
  serve,
  workerAt,
} from '../support/world.ts';

vi.setConfig({ testTimeout: 240_000 });

const NEW = { partner: 'crm-new' };
const settings = { partners: { 'crm-one': crmOne, 'crm-new': crmOne } };

/** The same file without the new partner. */
function withoutNew(config: string): string {
  const file = JSON.parse(readFileSync(config, 'utf8')) as typeof settings;
  return configFile({ ...file, partners: { 'crm-one': file.partners['crm-one'] } });
}

async function eventOf(config: string, id: string): Promise<object> {
  const { events } = JSON.parse(await command(config, 'receipt', 'show', id)) as {
    events: object[];
  };
  return events[0] ?? {};
}

async function setUp() {
  const { tracker, config } = await createWorld({
    ...settings,
    store: { url: (await emptyPostgres()).url },
    secretKey: Buffer.alloc(32, 9).toString('base64'),
  });
  const send = async (url: string, options = {}): Promise<{ number: number; id: string }> => {
    const { number } = openLead(tracker);
    const answer = await sendDeletion(url, number, options);
    expect(answer.status).toBe(202);
    return { number, id: ((await answer.json()) as { id: string }).id };
  };
  const isDeleted = (number: number): boolean => tracker.readIssue(number)?.state === 'closed';
  return { tracker, config, old: withoutNew(config), send, isDeleted };
}

test('what a partner sends that the worker does not know is done by an instance that knows it', async () => {
  const { config, old, send, isDeleted } = await setUp();
  const former = await serve(old);
  const next = await serve(config);
  const { number, id } = await send(next.url, NEW);
  await eventually(() => expect(isDeleted(number)).toBe(true));
  await eventually(async () =>
    expect(await eventOf(config, id)).toMatchObject({ outcome: 'DONE', attempts: 1 }),
  );
  await eventually(async () =>
    expect([await workerAt(next.url), await workerAt(former.url)]).toEqual(['ok', 'standby']),
  );
  // Events that both know are done as well, and the work stays where it is.
  const { number: other } = await send(former.url);
  await eventually(() => expect(isDeleted(other)).toBe(true));
  await eventually(() => {
    expect(handovers(former.run)).toHaveLength(1);
    expect(handovers(next.run)).toHaveLength(2); // it stood by first
  });
});

test('what nobody knows waits, is told, holds up nobody, and is done after SIGHUP', async () => {
  const { tracker, config, old, send, isDeleted } = await setUp();
  const known = readFileSync(config, 'utf8');
  const first = await serve(config);
  const reload = async (file: string): Promise<void> => {
    const count = () => first.run.log().filter(({ msg }) => msg === RELOADED).length;
    const before = count();
    writeFileSync(config, file);
    first.run.child.kill('SIGHUP');
    await eventually(() => expect(count()).toBe(before + 1));
  };
  // Accepted, and not yet matched when the partner is taken out of the file.
  const body = leadBody('gone@example.org');
  const { number } = tracker.createIssue({ title: 'Lead', body, labels: ['approved'] });
  const gate = tracker.hold({ path: '/issues$' });
  const event = { eventId: 'gone', email: 'gone@example.org' };
  const answer = await sendDeletion(first.url, event, NEW);
  const { id } = (await answer.json()) as { id: string };
  await gate.arrived();
  await reload(readFileSync(old, 'utf8'));
  gate.open();
  await eventually(async () => expect(await workerAt(first.url)).toBe('lacking'));
  const second = await serve(old);
  await eventually(async () => {
    expect(await workerAt(second.url)).toBe('lacking');
    const metrics = await (await fetch(`${second.url}/metrics`)).text();
    expect(metrics).toContain('trackport_partners_lacking 1');
  });

  const { number: other } = await send(second.url);
  await eventually(() => expect(isDeleted(other)).toBe(true));
  expect(await eventOf(config, id)).toMatchObject({
    outcome: 'PENDING',
    attempts: 0,
    lastError: 'partner-unknown',
  });
  expect(isDeleted(number)).toBe(false);

  await reload(known);
  await eventually(() => expect(isDeleted(number)).toBe(true));
  await eventually(async () =>
    expect(await eventOf(config, id)).toMatchObject({ outcome: 'DONE', attempts: 1 }),
  );
  const waits = () => first.run.log().filter(({ code }) => code === 'partner-unknown');
  await eventually(() => {
    // Once more when the directory learns its lead, for the deletion is matched anew then.
    expect(waits()).toContainEqual(
      expect.objectContaining({ receiptId: id, partnerId: 'crm-new' }),
    );
    expect(waits().length).toBeLessThanOrEqual(2);
    expect(handovers(second.run)).toHaveLength(1);
  });
  expect(handovers(first.run)).toEqual([]);
});

const RELOADED = 'configuration reloaded';

const handovers = (run: Trackport): unknown[] =>
  run.log().filter(({ msg }) => /stands by|this one does$/.test(String(msg)));
