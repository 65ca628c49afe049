/** Audit entries of a replay. The log is read by people, and nothing is ever taken out of it. */
import { expect, test } from 'vitest';
import { SECOND } from '#shared/clock.ts';
import { openDeletions } from '../../support/deletions/world.ts';
import { auditOf } from '../../support/audit.ts';

test('a replay by filter names every filter, and no value that may be personal data', async () => {
  const world = await openDeletions();
  await world.start();
  const event = { externalId: 'ada-lovelace', eventId: 'of-ada', correlationId: 'ada-1815' };
  await world.settled(await world.send({ ...event, leadId: 7 }));
  const filter = {
    ...event,
    partnerId: 'crm-one',
    status: 'UNMATCHED',
    outcome: 'UNMATCHED',
    since: SECOND,
  } as const;
  const actor = { kind: 'cli', subject: 'ops' } as const;
  expect(await world.partners.receipts.replayAll(filter, { actor })).toEqual({ queued: 1 });
  const [entry] = await auditOf(world.database, 'receipts');
  expect(entry?.changes).toEqual({
    filters: Object.keys(filter),
    partnerId: 'crm-one',
    status: 'UNMATCHED',
    outcome: 'UNMATCHED',
    since: '1970-01-01T00:00:01Z',
    queued: 1,
  });
  expect(JSON.stringify(entry)).not.toContain('ada@');
});
