/** What the audit log keeps of a replay. It is read by people, and nothing is ever taken out of it. */
import { expect, test } from 'vitest';
import { createAuditLog } from '#adapters/sqlite/audit-log.ts';
import { replayReceipts } from '#partners/receipts/replay-receipts.ts';
import { SECOND } from '#shared/clock.ts';
import { openDesk } from '../../support/deletion-desk.ts';

test('a replay by filter names every filter, and no value that may be personal data', async () => {
  const desk = await openDesk();
  await desk.start();
  const event = { externalId: 'ada-lovelace', eventId: 'of-ada', correlationId: 'ada-1815' };
  await desk.settled(await desk.send({ ...event, leadId: 7 }));
  const filter = {
    ...event,
    partnerId: 'crm-one',
    status: 'UNMATCHED',
    outcome: 'UNMATCHED',
    since: SECOND,
  } as const;
  const replaying = { store: desk.receipts, clock: Date, wakeWorker: () => undefined };
  const actor = { kind: 'cli', subject: 'ops' } as const;
  expect(await replayReceipts(replaying, filter, { actor })).toEqual({ queued: 1 });
  const [entry] = createAuditLog(desk.database).listOf('receipts');
  expect(entry?.changes).toEqual({
    filters: Object.keys(filter),
    partnerId: 'crm-one',
    status: 'UNMATCHED',
    outcome: 'UNMATCHED',
    since: '1970-01-01T00:00:01Z',
    queued: 1,
  });
  expect(JSON.stringify(entry)).not.toMatch(/ada/);
});
