/** Deliveries that a partner sent in vain are brought in from a file, beside the service. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { emptyPostgres } from '../../support/postgres/database.ts';
import { runHere } from '../support/command.ts';
import {
  command,
  createWorld,
  crmOne,
  listLeads,
  openLead,
  sendDeletion,
  serve,
} from '../support/world.ts';

vi.setConfig({ testTimeout: 120_000 });

const deletions = { types: ['lead.deletion'], actions: ['relabel', 'close'] };

/** Two instances on PostgreSQL; a file has one. */
const engines: [engine: string, settings: () => Promise<Record<string, unknown>>][] = [
  ['SQLite', async () => ({})],
  [
    'PostgreSQL',
    async () => ({
      store: { url: (await emptyPostgres()).url },
      secretKey: Buffer.alloc(32, 9).toString('base64'),
    }),
  ],
];

describe.each(engines)('beside a service on %s', (engine, settings) => {
  async function setUp(...names: string[]) {
    const world = await createWorld({
      ...(await settings()),
      partners: { 'crm-one': { ...crmOne, deletions } },
    });
    const { tracker, config, key } = world;
    const numbers = names.map(
      (title) => openLead(tracker, { title, email: `${title}@example.org` }).number,
    );
    const service = await serve(config);
    const others = engine === 'PostgreSQL' ? [await serve(config)] : [];
    const urls = [service, ...others].map(({ url }) => url);
    await eventually(async () =>
      expect(await (await fetch(`${service.url}/readyz`)).json()).toMatchObject({
        checks: { directory: { state: 'complete' } },
      }),
    );
    /** Numbers of the leads that each instance shows. */
    const shown = async () => {
      const all = await Promise.all(urls.map((url) => listLeads(url, key)));
      const ids = all.map((leads) =>
        leads.map(({ id }) => Number(id)).sort((left, right) => left - right),
      );
      for (const other of ids) expect(other).toEqual(ids[0]);
      return ids[0];
    };
    const write = (content: string): string => {
      const file = path.join(path.dirname(config), 'missed');
      writeFileSync(file, content);
      return file;
    };
    const options = ['--partner', 'crm-one', '--path', 'deletions'];
    const imported = async (file: string, ...more: string[]) => {
      const printed = await command(config, 'receipt', 'import', file, ...options, ...more);
      return JSON.parse(printed) as { receipts: Record<string, unknown>[] };
    };
    const closed = (number: number) => tracker.readIssue(number)?.state === 'closed';
    return { numbers, config, url: service.url, shown, write, imported, closed };
  }

  test('hides what it names at once, closes it, and takes nothing twice', async () => {
    const names = ['ada', 'bob', 'eve', 'zoe'];
    const { numbers, config, url, shown, write, imported, closed } = await setUp(...names);
    const [ada, bob, eve, zoe] = numbers as [number, number, number, number];
    expect(await shown()).toEqual(numbers);
    const yesterday = new Date(Date.now() - 86_400_000).toISOString();
    const event = { eventType: 'lead.deletion' };
    const first = { ...event, eventId: '1', email: 'ADA@example.org', occurredAt: Date.now() };
    const lines = [
      '\uFEFF' + JSON.stringify(first),
      '',
      JSON.stringify([
        { ...event, eventId: '2', leadId: bob, occurredAt: yesterday },
        { eventType: 'lead.created', eventId: '3', leadId: zoe },
        { ...event, eventId: '4' },
      ]),
      JSON.stringify(first),
      // A person who comes back is another lead.
      JSON.stringify({ ...event, eventId: '5', email: 'eve@example.org', occurredAt: yesterday }),
    ];
    const file = write(lines.join('\r\n'));

    const forecast = await imported(file, '--dry-run');
    expect(forecast.receipts).toEqual([
      { line: 1, repeat: false, outcomes: { PENDING: 1 }, leads: 1, undated: 0 },
      {
        line: 3,
        repeat: false,
        outcomes: { PENDING: 1, IGNORED: 1, REJECTED: 1 },
        leads: 1,
        undated: 0,
      },
      { line: 4, repeat: true, outcomes: {}, leads: 0, undated: 0 },
      { line: 5, repeat: false, outcomes: { PENDING: 1 }, leads: 0, undated: 0 },
    ]);
    expect(await shown()).toEqual(numbers);

    const { receipts } = await imported(file);
    expect(await shown()).toEqual([eve, zoe]); // every instance, at once
    const id = expect.stringMatching(/^[\da-f-]{36}$/);
    expect(receipts).toEqual([
      { line: 1, id, repeat: false },
      { line: 3, id, repeat: false },
      { line: 4, id: receipts[0]?.['id'], repeat: true },
      { line: 5, id, repeat: false },
    ]);
    await eventually(() => expect([closed(ada), closed(bob)]).toEqual([true, true]));

    const again = await imported(file);
    expect(again.receipts).toEqual(
      receipts.map(({ line, id: original }) => ({ line, id: original, repeat: true })),
    );
    const sent = await sendDeletion(url, first);
    expect(sent.headers.get('idempotent-replayed')).toBe('true');
    expect(await sent.json()).toMatchObject({ id: receipts[0]?.['id'] });
    expect([closed(eve), closed(zoe)]).toEqual([false, false]);

    const { items } = JSON.parse(await command(config, 'audit', 'list')) as {
      items: Record<string, unknown>[];
    };
    expect(items.filter(({ action }) => action === 'receipt.import')).toEqual(
      Array.from({ length: 2 }, () =>
        expect.objectContaining({
          actor: expect.objectContaining({ kind: 'cli' }),
          subject: 'partner/crm-one',
          changes: { path: 'deletions', deliveries: 4 },
        }),
      ),
    );
  });

  test('takes once what the partner sends at the same time', async () => {
    const { config, url, write, imported } = await setUp();
    const events = Array.from({ length: 400 }, (_, at) => ({
      eventType: 'lead.deletion',
      eventId: `both-${at}`,
      externalId: `x-${at}`,
    }));
    const file = write(JSON.stringify(events, null, 2));
    const send = async () => {
      const sent = new Map<string, string>();
      for (const event of events.filter((_, at) => at % 8 === 0)) {
        const answer = await sendDeletion(url, event);
        sent.set(event.eventId, ((await answer.json()) as { id: string }).id);
      }
      return sent;
    };
    const [{ receipts }, sent] = await Promise.all([imported(file), send()]);
    expect(receipts).toHaveLength(events.length);
    for (const [at, { eventId }] of events.entries())
      if (sent.has(eventId)) expect(receipts[at]?.['id']).toBe(sent.get(eventId));
    expect(new Set(receipts.map(({ id }) => id)).size).toBe(events.length);
    const of = JSON.parse(await command(config, 'receipt', 'list', '--event-id', 'both-8')) as {
      items: unknown[];
    };
    expect(of.items).toHaveLength(1);
  });

  test('takes nothing of a file with a line that cannot be read', async () => {
    const { numbers, config, shown, write } = await setUp('ada');
    const file = write(`{"eventType":"lead.deletion","leadId":${numbers[0]}}\n\n{"eventId":\n`);
    const options = ['--partner', 'crm-one', '--path', 'deletions', '--config', config];
    const end = await runHere(['receipt', 'import', file, ...options]);
    expect(end).toMatchObject({ code: 1, stdout: '' });
    expect(end.stderr).toMatch(/^Line 3 cannot be read\. .*Nothing was taken\.\n$/);
    expect(JSON.parse(await command(config, 'receipt', 'list'))).toMatchObject({ items: [] });
    expect(await shown()).toEqual(numbers);
  });
});
