import { expect, test } from 'vitest';
import type { AuditEntryOut } from '#access/audit-log.ts';
import {
  auditFile,
  auditPage,
  auditQuery,
  auditView,
  toCsv,
  toFilter,
} from '#portal/pages/audit.ts';
import { withQuery } from '#portal/paths.ts';
import { DAY } from '#shared/clock.ts';
import { origin } from '../../access/support.ts';
import { flat, viewer } from '../shell/support.ts';
import { openWorld, startPortal } from '../../support/world.ts';

const auditPages = [auditPage, auditFile];

async function setUp(consumers: number, { name = 'Consumer', subject = 'operator' } = {}) {
  const context = { portalClientId: 'trackport-portal' };
  const { access, portal } = openWorld({ pages: auditPages, context });
  const names = Array.from({ length: consumers }, (_, at) => `${name} ${at}`);
  for (const name of names)
    await access.consumers.create({ name }, { ...origin, actor: { kind: 'cli', subject } });
  return portal;
}

const rowsOf = (body: string): number =>
  body.match(/consumer\.<wbr \/>create<\/code>/g)?.length ?? 0;

test('the log is shown by pages, each entry once, by a filter that is as long as one may be', async () => {
  const who = 'o'.repeat(512);
  const { signIn } = await setUp(30, { subject: who });
  const admin = await signIn();
  const first = await admin.get(`/portal/audit?who=${who}`);
  expect(rowsOf(first.body)).toBe(20);
  const [, older = ''] = /href="([^"]+)"[^>]*>Older/.exec(first.body) ?? [];
  const second = await admin.get(older.replaceAll('&amp;', '&'));
  expect(rowsOf(second.body)).toBe(10);
  expect(second.body).not.toContain('>Older');
  expect(second.body).toContain('>Newest');
});

test('what is filtered can be had as a file, longer than one read', async () => {
  const { signIn } = await setUp(510);
  const { body, headers } = await (await signIn()).get('/portal/audit/file?what=consumer.create');
  expect(headers['content-type']).toBe('text/csv; charset=utf-8');
  expect(headers['content-disposition']).toBe('attachment; filename="trackport-audit.csv"');
  const [header, ...rows] = body.trim().split('\r\n');
  expect(header).toBe('at,actor,actorKind,clientId,action,subject,changes,requestId');
  expect(rows).toHaveLength(510);
});

test('a long file gives others their turn after each read', async () => {
  const READS = 20;
  let turn = 0;
  const turns: number[] = [];
  const listAudit = async () => {
    turns.push(turn);
    setImmediate(() => (turn += 1));
    const hasMore = turns.length < READS;
    return { items: [], pagination: { hasMore, ...(hasMore && { nextCursor: 'next' }) } };
  };
  const { signIn } = startPortal(auditPages, { context: { access: { listAudit } } });
  await (await signIn()).get('/portal/audit/file');
  expect(turns).toEqual(Array.from({ length: READS }, (_, at) => at));
});

test('a wrong filter says so, an empty form is none', async () => {
  const admin = await (await setUp(0)).signIn();
  expect(await admin.get('/portal/audit?from=soon')).toMatchObject({ status: 400 });
  expect(await admin.get('/portal/audit?cursor=made-up')).toMatchObject({ status: 400 });
  const empty = await admin.get('/portal/audit?who=&what=&on=&from=&to=');
  expect(empty).toMatchObject({ status: 200 });
});

test('a page of texts that escape to many times their length stays below 50 KB', async () => {
  const { signIn } = await setUp(30, { name: '"<'.repeat(97) });
  const { body } = await (await signIn()).get('/portal/audit');
  expect(rowsOf(body)).toBe(20);
  expect(Buffer.byteLength(body)).toBeLessThan(50_000);
});

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
      viewer,
    },
  );

test('an artifact of another workspace leads to what was done to it, to no page of this one', () => {
  const own = flat(view([entry({ subject: 'artifact/default/leads' })]));
  expect(own).toContain('href="/portal/catalog/leads"');
  const other = flat(view([entry({ subject: 'artifact/other/leads' })]));
  expect(other).not.toContain('href="/portal/catalog');
  expect(other).toContain('href="/portal/audit?on=artifact%2Fother%2Fleads"');
});

test('a request is whole, and leads to all that it changed', () => {
  const text = flat(view([entry()], 'who=root'));
  const id = '3f9a1c00-0000-4000-8000-000000000001';
  expect(text).toContain(`href="/portal/audit?who=root&amp;request=${id}"`);
  expect(text).toContain(`<code>${id}</code>`);
  expect(flat(view([entry({ requestId: undefined })]))).not.toContain('request=');
});

test('of a request that changed nothing it says where to look', () => {
  expect(flat(view([], 'request=r-1'))).toContain('<code>requestId</code>');
  expect(flat(view([], 'who=root'))).not.toContain('requestId');
});

test('the last day counts', () => {
  const query = auditQuery.parse({ from: '2026-11-01', to: '2026-11-01', who: '', what: '' });
  const since = Date.parse('2026-11-01T00:00:00Z');
  expect(toFilter(query)).toEqual({ since, before: since + DAY });
  expect(toFilter(auditQuery.parse({ request: 'r-1' }))).toEqual({ requestId: 'r-1' });
  expect(withQuery('/a', query)).toBe('/a?from=2026-11-01&to=2026-11-01');
});

test('a file for spreadsheets quotes what it must and holds no formula', () => {
  const [row = ''] = toCsv([
    entry({ actor: { kind: 'cli', subject: '=HYPERLINK("x")' }, changes: { reason: 'a,\n"b"' } }),
  ]).split(/\r\n/);
  expect(row).toContain(`"'=HYPERLINK(""x"")",cli,,key.rotate`);
  expect(row).toContain(String.raw`"{""reason"":""a,\n\""b\""""}"`);
});
