import { describe, expect, test } from 'vitest';
import { type AuditEntry, appendAudit } from '#shared/audit.ts';
import { openWorld, type World } from '../../support/world.ts';

const START = Date.parse('2026-03-01T12:00:00Z');

/** Writes entries as changes do; `n` is the minute. */
function write({ database }: World, n: number, facts: Partial<AuditEntry> = {}): Promise<void> {
  const entry: AuditEntry = {
    at: START + n * 60_000,
    actor: { kind: 'cli', subject: 'operator' },
    action: 'consumer.update',
    subject: `consumer/c-${n}`,
    ...facts,
  };
  return database.transaction(async (tx) => appendAudit(tx, entry));
}

const subjectsOf = ({ body }: { body: { items: { subject: string }[] } }): string[] =>
  body.items.map(({ subject }) => subject);

describe('GET /audit', () => {
  test('shows who did what to what, newest first', async () => {
    const server = openWorld();
    const made = await server.call('POST', '/consumers', { body: { name: 'a', expires: '30d' } });
    await server.clock.advance(1000);
    await server.call('DELETE', `/consumers/${made.body.id}`, { token: 'admin-2' });
    const reply = await server.call('GET', '/audit');
    expect(reply.status).toBe(200);
    expect(reply.headers['cache-control']).toBe('no-store');
    const subject = `consumer/${made.body.id}`;
    expect(reply.body).toEqual({
      items: [
        {
          at: '2026-03-01T12:00:01Z',
          actor: { kind: 'token', subject: 'operator-2', clientId: 'console' },
          action: 'consumer.revoke',
          subject,
          changes: { state: 'revoked' },
          requestId: expect.any(String),
        },
        {
          at: '2026-03-01T12:00:00Z',
          actor: { kind: 'token', subject: 'operator-1', clientId: 'console' },
          action: 'consumer.create',
          subject,
          changes: {
            name: 'a',
            grants: [],
            keyId: made.body.key.split('_')[1],
            expiresAt: '2026-03-31T12:00:00Z',
          },
          requestId: made.headers['x-request-id'],
        },
      ],
      pagination: { hasMore: false },
    });
  });

  test.each([
    ['action=consumer.craete', 'action'],
    ['actor=', 'actor'],
    ['since=yesterday', 'since'],
    ['until=2026-03-01', 'until'],
    [`subject=${'x'.repeat(513)}`, 'subject'],
  ])('%s is refused', async (query, parameter) => {
    const { status, body } = await openWorld().call('GET', `/audit?${query}`);
    expect([status, body.errors]).toMatchObject([400, [{ parameter }]]);
  });

  test('a cursor alone repeats its filters, and one beside it that differs is named', async () => {
    const server = openWorld();
    for (let n = 0; n < 6; n += 1)
      await write(server, n, { actor: { kind: 'cli', subject: n % 2 ? 'alice' : 'operator' } });
    const first = await server.call('GET', '/audit?limit=1&actor=alice&since=2026-03-01');
    const { nextCursor } = first.body.pagination;
    expect(first.headers['link']).toContain(`&cursor=${nextCursor}>; rel="next"`);
    const alone = await server.call('GET', `/audit?cursor=${nextCursor}`);
    expect(subjectsOf(alone)).toEqual(['consumer/c-3', 'consumer/c-1']);
    const same = await server.call('GET', `/audit?limit=1&actor=alice&cursor=${nextCursor}`);
    expect(subjectsOf(same)).toEqual(['consumer/c-3']);
    const other = 'actor=operator&action=key.revoke&since=2026-03-01';
    const reply = await server.call('GET', `/audit?cursor=${nextCursor}&${other}`);
    expect([reply.status, reply.body.code]).toEqual([400, 'invalid-cursor']);
    const named = reply.body.errors.map(({ parameter }: { parameter: string }) => parameter);
    expect(named.toSorted()).toEqual(['action', 'actor']);
  });
});
