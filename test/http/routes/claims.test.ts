import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createClaims } from '../../support/claims.ts';
import { claimLeads, openedDirectory } from '../../support/directory.ts';
import { openWorld, type World } from '../../support/world.ts';

async function openClaimApp(): Promise<World> {
  const server = openWorld();
  await openedDirectory(server.database);
  return server;
}

type Listed = { items: { leadId: string }[]; pagination: { hasMore: boolean } };

const idsOf = ({ body }: { body: Listed }): string[] => body.items.map(({ leadId }) => leadId);

describe('GET /claims', () => {
  test('lists claimed leads, newest claim first, each once with all its receipts', async () => {
    const { database, clock, call } = await openClaimApp();
    const at = clock.now();
    await claimLeads(database, { numbers: [12, 13], event: 1, at });
    await claimLeads(database, { numbers: [7], event: 2, at: at + 1000 });
    await claimLeads(database, { numbers: [12], event: 3, at: at + 2000 });
    const reply = await call('GET', '/claims');
    expect(reply.status).toBe(200);
    expect(reply.headers['cache-control']).toBe('no-store');
    expect(reply.body).toEqual({
      items: [
        { leadId: '7', claimedAt: '2026-03-01T12:00:01Z', receiptIds: ['receipt-2'] },
        { leadId: '13', claimedAt: '2026-03-01T12:00:00Z', receiptIds: ['receipt-1'] },
        { leadId: '12', claimedAt: '2026-03-01T12:00:00Z', receiptIds: ['receipt-1', 'receipt-3'] },
      ],
      pagination: { hasMore: false },
    });
  });

  test('leaves out what was released, and leads of another repository', async () => {
    const { database, call } = await openClaimApp();
    await claimLeads(database, { numbers: [1, 2] });
    await claimLeads(database, { numbers: [3], event: 2, repositoryId: 99 });
    await call('DELETE', '/claims/1');
    expect(idsOf(await call('GET', '/claims'))).toEqual(['2']);
    expect((await call('GET', '/claims/3')).status).toBe(404);
  });
});

describe('GET /claims/{leadId}', () => {
  test('shows the claim on one lead', async () => {
    const { database, call, clock } = await openClaimApp();
    await claimLeads(database, { numbers: [12, 13], at: clock.now() });
    const reply = await call('GET', '/claims/12');
    expect([reply.status, reply.body]).toEqual([
      200,
      { leadId: '12', claimedAt: '2026-03-01T12:00:00Z', receiptIds: ['receipt-1'] },
    ]);
    expect(reply.headers['cache-control']).toBe('no-store');
  });

  test('takes the number as people write it', async () => {
    const { database, call } = await openClaimApp();
    await claimLeads(database, { numbers: [12] });
    expect((await call('GET', '/claims/%2312')).body).toMatchObject({ leadId: '12' });
  });

  test.each(['1', '12x', '1e1', '99999999999999999999'])(
    'is 404 for %s, which is not claimed',
    async (leadId) => {
      const { database, call } = await openClaimApp();
      await claimLeads(database, { numbers: [12, 10] });
      for (const method of ['GET', 'DELETE'] as const) {
        const { status, body } = await call(method, `/claims/${leadId}`);
        expect([status, body.code]).toEqual([404, 'not-found']);
      }
    },
  );
});

describe('DELETE /claims/{leadId}', () => {
  test('gives the lead back to readers, once, and says who did in the audit log', async () => {
    const { database, clock, auditOf, call } = await openClaimApp();
    await claimLeads(database, { numbers: [12], event: 1 });
    await claimLeads(database, { numbers: [12, 13], event: 2 });
    const view = createClaims(database);
    expect((await view.current()).has(12)).toBe(true);
    const reply = await call('DELETE', '/claims/12', { token: 'admin-2' });
    expect([reply.status, reply.body]).toEqual([204, undefined]);
    await nextTurn();
    const claims = await view.current();
    expect([claims.has(12), claims.has(13)]).toEqual([false, true]);
    const again = await call('DELETE', '/claims/12');
    expect([again.status, again.body.code]).toEqual([404, 'not-found']);
    expect(await auditOf('claim/12')).toEqual([
      {
        at: clock.now(),
        actor: { kind: 'token', subject: 'operator-2', clientId: 'console' },
        action: 'claim.release',
        subject: 'claim/12',
        requestId: reply.headers['x-request-id'],
      },
    ]);
  });
});
