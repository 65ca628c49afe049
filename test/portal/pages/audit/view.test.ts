import { expect, test } from 'vitest';
import type { AuditEntryOut } from '#access/audit.ts';
import { auditQuery, auditView, toCsv, toFilter } from '#portal/pages/audit/routes.ts';
import { withQuery } from '#portal/address.ts';
import { DAY } from '#shared/clock.ts';
import { flat, hostile, reader } from '../../shell/support.ts';

const entry = (given: Partial<AuditEntryOut> = {}): AuditEntryOut => ({
  at: '2026-11-21T14:01:12.000Z',
  actor: { kind: 'token', subject: 'ops-oncall', clientId: 'trackport-portal' },
  action: 'key.rotate',
  subject: 'consumer/7c6d1f5e-0000-4000-8000-000000000001',
  changes: { keyId: '8fQ2mZr7KxLd', overlap: '24h' },
  requestId: '3f9a1c00-0000-4000-8000-000000000001',
  ...given,
});

const names = new Map([['consumer/7c6d1f5e-0000-4000-8000-000000000001', 'Sales cockpit']]);

const view = (items: AuditEntryOut[], search = '', pagination = { hasMore: false }) =>
  auditView(
    { items, names, pagination, portalClientId: 'trackport-portal', workspaceId: 'default' },
    {
      query: auditQuery.parse(Object.fromEntries(new URLSearchParams(search))),
      typed: {},
      problems: [],
      reader,
    },
  );

test('an entry says when, who by which way, what, on what, and with which request', () => {
  const text = flat(view([entry()]));
  expect(text).toContain('title="2026-11-21 14:01:12 UTC">21 Nov 15:01:12</time>');
  expect(text).toContain('ops-oncall</bdi></a><span class="note">portal</span>');
  expect(text).toContain(
    'href="/portal/consumers/7c6d1f5e-0000-4000-8000-000000000001">consumer<bdi>Sales cockpit</bdi>',
  );
  expect(text).toContain('key id:<bdi>8fQ2mZr7KxLd</bdi>, overlap:<bdi>24h</bdi>');
  expect(text).toContain('<code title="3f9a1c00-0000-4000-8000-000000000001">00000001</code>');
});

test('changes are told in words and in the zone of who reads', () => {
  const grants = [{ action: 'leads:read', labels: ['emea', 'b', 'c', 'd'] }];
  const changes = { grants, expiresAt: '2026-11-21T14:01:12.000Z', limitPerMinute: 5 };
  const text = flat(view([entry({ changes })]));
  expect(text).toContain('grants:<span class="tag"><bdi>emea</bdi></span>');
  expect(text).toContain('and 1 more');
  expect(text).toContain('UTC">21 Nov 15:01:12</time>, limit per minute:<bdi>5</bdi>');
});

test.each([
  [{ kind: 'cli', subject: 'root' } as const, 'command line'],
  [{ kind: 'token', subject: 'ci', clientId: 'ci' } as const, 'API'],
  [{ kind: 'system', subject: 'trackport' } as const, 'Trackport'],
])('%o came by %s', (actor, way) => {
  expect(flat(view([entry({ actor })]))).toContain(`<span class="note">${way}</span>`);
});

test('what has no page of its own leads to all that was done to it', () => {
  const text = flat(view([entry({ subject: 'receipts' })], 'who=root'));
  expect(text).toContain('href="/portal/audit?who=root&amp;on=receipts"');
  const claim = flat(view([entry({ subject: 'claim/4120' })]));
  expect(claim).toContain('href="/portal/claims/4120"');
});

test('an artifact of another workspace leads to what was done to it, to no page of this one', () => {
  const own = flat(view([entry({ subject: 'artifact/default/leads' })]));
  expect(own).toContain('href="/portal/catalog/leads"');
  const other = flat(view([entry({ subject: 'artifact/other/leads' })]));
  expect(other).not.toContain('href="/portal/catalog');
  expect(other).toContain('href="/portal/audit?on=artifact%2Fother%2Fleads"');
});

test('an empty log says what will stand there, an empty find leads back to all', () => {
  expect(flat(view([]))).toContain('Nothing was changed yet');
  expect(flat(view([], 'who=nobody'))).toContain('<a class="btn" href="/portal/audit">Show all');
});

test('a long text of somebody is cut', () => {
  const changes = { reason: hostile.repeat(1000) };
  const actor = { kind: 'token' as const, subject: hostile, clientId: hostile };
  const wild = view([entry({ actor, subject: `claim/${hostile}`, changes })]);
  expect(wild.toString().length).toBeLessThan(12_000);
});

test('the last day counts', () => {
  const query = auditQuery.parse({ from: '2026-11-01', to: '2026-11-01', who: '', what: '' });
  const since = Date.parse('2026-11-01T00:00:00Z');
  expect(toFilter(query, 'UTC')).toEqual({ since, before: since + DAY });
  expect(withQuery('/a', query)).toBe('/a?from=2026-11-01&to=2026-11-01');
});

test.each([
  { what: 'everything' },
  { from: 'yesterday' },
  { who: 'x'.repeat(513) },
  { other: '1' },
])('%o is refused', (query) => {
  expect(auditQuery.safeParse(query).success).toBe(false);
});

test('a file for spreadsheets quotes what it must and holds no formula', () => {
  const [row = ''] = toCsv([
    entry({ actor: { kind: 'cli', subject: '=HYPERLINK("x")' }, changes: { reason: 'a,\n"b"' } }),
  ]).split(/\r\n/);
  expect(row).toContain(`"'=HYPERLINK(""x"")",cli,,key.rotate`);
  expect(row).toContain(String.raw`"{""reason"":""a,\n\""b\""""}"`);
});
