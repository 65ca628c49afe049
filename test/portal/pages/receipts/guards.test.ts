import { describe, expect, test } from 'vitest';
import { HOUR } from '#shared/clock.ts';
import { openReceiptPages } from './support.ts';

type Pages = Awaited<ReturnType<typeof openReceiptPages>>;
type Browser = Pages['admin'];

/** A dead letter whose lead is claimed: all that can be done on these pages would do something. */
async function openDeadLetter() {
  const pages = await openReceiptPages();
  const { receipt } = await pages.deliver({ eventId: 'e-1', leadId: '24' });
  await pages.settle({ outcome: 'FAILED', lastError: 'locked' });
  const own = `/portal/receipts/${receipt.id}`;
  const shown = [
    '/portal/receipts',
    own,
    '/portal/receipts/replay?outcome=FAILED',
    '/portal/claims/24',
    '/portal/claims/24/release',
  ];
  const actions: [string, Record<string, string>][] = [
    [`${own}/replay`, {}],
    ['/portal/receipts/replay', { outcome: 'FAILED', typed: '1' }],
    ['/portal/claims/24/release', { typed: '24' }],
  ];
  const isUntouched = async (): Promise<boolean> => {
    const { items } = await pages.access.listAudit({ filter: {}, limit: 5 });
    const status = (await pages.receipts.read(receipt.id))?.status;
    const claim = await pages.claimedLeads.read('24').catch(() => undefined);
    return items.length === 0 && status === 'FAILED' && claim !== undefined;
  };
  return { ...pages, shown, actions, isUntouched };
}

type Refused = { status: number; location?: string | undefined };

/** The status of each action as `send` sends its form. */
async function statuses(
  { actions }: Awaited<ReturnType<typeof openDeadLetter>>,
  send: (path: string, fields: Record<string, string>) => Promise<Refused>,
): Promise<number[]> {
  const all: number[] = [];
  for (const [path, fields] of actions) all.push((await send(path, fields)).status);
  return all;
}

const REFUSED = [403, 403, 403];

describe('receipts, replays and releases', () => {
  test('are for operators alone', async () => {
    const opened = await openDeadLetter();
    const reader = await opened.signIn(['catalog:read', 'catalog:write', 'catalog:publish']);
    for (const path of opened.shown) expect(await reader.get(path)).toMatchObject({ status: 403 });
    expect(await statuses(opened, (path, fields) => reader.post(path, fields))).toEqual(REFUSED);
    expect(await opened.isUntouched()).toBe(true);
  });

  test('are for nobody who is not signed in', async () => {
    const opened = await openDeadLetter();
    const nobody = opened.browser();
    for (const path of opened.shown) {
      const { status, location, body } = await nobody.get(path);
      expect(status).toBe(303);
      expect(location).toMatch(/^\/portal\/sign-in\?to=/);
      expect(body).toBe('');
    }
    const formToken = await opened.admin.formToken();
    const send = (path: string, fields: Record<string, string>) =>
      nobody.post(path, { ...fields, formToken }, { formToken: null });
    expect(await statuses(opened, send)).toEqual(REFUSED);
    expect(await opened.isUntouched()).toBe(true);
  });

  test.each<[string, (opened: Pages) => Promise<Parameters<Browser['post']>[2]>]>([
    ['without a token', async () => ({ formToken: null })],
    ['with a made up token', async () => ({ formToken: 'A'.repeat(43) })],
    [
      'with the token of another person',
      async ({ signIn }) => ({
        formToken: await (await signIn(undefined, { issuerSubject: 'operator-2' })).formToken(),
      }),
    ],
    ['of another site', async () => ({ headers: { origin: 'https://evil.example.com' } })],
    ['of a page without an origin', async () => ({ headers: { origin: 'null' } })],
    ['of a neighbour', async () => ({ headers: { 'sec-fetch-site': 'same-site' } })],
  ])('take no form %s', async (_what, makeOptions) => {
    const opened = await openDeadLetter();
    const options = await makeOptions(opened);
    const send = (path: string, fields: Record<string, string>) =>
      opened.admin.post(path, fields, options);
    expect(await statuses(opened, send)).toEqual(REFUSED);
    expect(await opened.isUntouched()).toBe(true);
  });

  test.each<[string, (opened: Awaited<ReturnType<typeof openDeadLetter>>) => Promise<unknown>]>([
    ['was signed out', ({ admin }) => admin.post('/portal/sign-out')],
    ['lasted twelve hours', ({ portalClock }) => portalClock.advance(12 * HOUR)],
  ])('take no form of a session that %s', async (_what, end) => {
    const opened = await openDeadLetter();
    const formToken = await opened.admin.formToken();
    await end(opened);
    const send = (path: string, fields: Record<string, string>) =>
      opened.admin.post(path, { ...fields, formToken }, { formToken: null });
    expect(await statuses(opened, send)).toEqual(REFUSED);
    for (const path of opened.shown)
      expect(await opened.admin.get(path)).toMatchObject({ status: 303 });
    expect(await opened.isUntouched()).toBe(true);
  });

  test('are shown and done for an operator, so that all of this is refused for its reason', async () => {
    const opened = await openDeadLetter();
    for (const path of opened.shown)
      expect(await opened.admin.get(path)).toMatchObject({ status: 200 });
    const [own, all, release] = opened.actions;
    for (const action of [release, own])
      expect(await opened.admin.post(...(action ?? ['', {}]))).toMatchObject({ status: 303 });
    expect(await opened.isUntouched()).toBe(false);
    const again = await openDeadLetter();
    expect(await again.admin.post(...(all ?? ['', {}]))).toMatchObject({ status: 303 });
  });

  test('show nothing that a partner sent as markup', async () => {
    const { admin, deliver, settle } = await openReceiptPages();
    const wild = `"><script>alert('1')</script><img src=x onerror=y>`;
    const event = { eventId: wild, externalId: wild, type: wild, eventType: wild, leadId: '24' };
    const { receipt } = await deliver(event, { correlationId: 'c-1' });
    await settle({ outcome: 'FAILED', lastError: 'locked' });
    const query = encodeURIComponent(wild);
    const paths = [
      '/portal/receipts',
      `/portal/receipts?eventId=${query}`,
      `/portal/receipts/replay?eventId=${query}`,
      `/portal/receipts/${receipt.id}`,
      `/portal/receipts?status=${query}`,
    ];
    for (const path of paths) {
      const { body } = await admin.get(path);
      expect(body).not.toContain('<script>');
      expect(body).not.toContain('<img');
      expect(body).toContain('</html>');
    }
    expect((await admin.get(paths[3] ?? '')).body).toContain('&lt;img src=x onerror=y&gt;');
  });
});
