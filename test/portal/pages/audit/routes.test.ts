import { expect, test } from 'vitest';
import { auditPages } from '#portal/pages/audit/routes.ts';
import { origin } from '../../../access/support.ts';
import { buildAccess } from '../../../support/access.ts';
import { createFakeClock } from '../../../support/clock.ts';
import { pagesContext, startPortal } from '../../../support/portal/portal.ts';

async function setUp(consumers: number, { name = 'Consumer', subject = 'operator' } = {}) {
  const clock = createFakeClock();
  const access = buildAccess({ clock });
  const names = Array.from({ length: consumers }, (_, at) => `${name} ${at}`);
  for (const name of names)
    await access.consumers.create({ name }, { ...origin, actor: { kind: 'cli', subject } });
  const context = pagesContext({ access, portalClientId: 'trackport-portal' });
  return startPortal((portal) => auditPages(portal, context), { clock });
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
  const { signIn } = startPortal((portal) =>
    auditPages(portal, pagesContext({ access: { listAudit } })),
  );
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
