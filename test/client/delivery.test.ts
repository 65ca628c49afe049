/** Deliveries of a partner, sent again where they have to be, and their status. */
import { createClient, ProblemError } from '@trackport/client';
import { expect, onTestFinished, test, vi } from 'vitest';

type Sent = { at: number; url: string; headers: Headers; body: string };

function setup(replies: (() => Response)[]) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const sent: Sent[] = [];
  const client = createClient({
    baseUrl: 'https://service.test/under',
    fetch: async (input) => {
      const { url, headers } = input as Request;
      sent.push({ at: Date.now(), url, headers, body: await (input as Request).text() });
      const response = replies.shift()?.() ?? Response.error();
      return Object.defineProperty(response, 'url', { value: url });
    },
  });
  return { client, sent };
}

const receipt = { id: 'r1', status: 'ACCEPTED' };
const accepted = (headers: Record<string, string> = {}): Response =>
  Response.json(receipt, {
    status: 202,
    headers: { location: '/api/v1/receipt-status/t1', ...headers },
  });
const busy = (): Response =>
  Response.json({ code: 'store-unavailable' }, { status: 503, headers: { 'retry-after': '60' } });

test('a deletion is sent until it is accepted, signed anew each time', async () => {
  const { client, sent } = setup([busy, () => accepted({ 'idempotent-replayed': 'true' })]);
  let signatures = 0;
  const sending = client.send({
    partnerId: 'crm-one',
    path: 'deletions',
    body: { eventId: '1' },
    correlationId: 'c1',
    sign: async ({ url, body }) => ({ 'x-signature': `${(signatures += 1)} ${url} ${body}` }),
  });
  await vi.advanceTimersByTimeAsync(60_000);
  const statusUrl = 'https://service.test/api/v1/receipt-status/t1';
  expect(await sending).toEqual({ receipt, isRepeat: true, statusUrl });
  expect(sent).toHaveLength(2);
  const url = 'https://service.test/under/api/v1/webhooks/partners/crm-one/deletions';
  expect(sent.map(({ headers }) => headers.get('x-signature'))).toEqual([
    `1 ${url} {"eventId":"1"}`,
    `2 ${url} {"eventId":"1"}`,
  ]);
  expect(sent.map((one) => [one.url, one.body, one.headers.get('x-correlation-id')])).toEqual(
    sent.map(() => [url, '{"eventId":"1"}', 'c1']),
  );
});

test('a text is sent as it is, and a refusal once', async () => {
  const refused = () => Response.json({ code: 'unauthorized' }, { status: 401 });
  const { client, sent } = setup([refused]);
  const body = '[ {"n": 1.0} ]';
  const delivery = { partnerId: 'p', path: 'events' as const, body, sign: async () => ({}) };
  await expect(client.send(delivery)).rejects.toBeInstanceOf(ProblemError);
  expect(sent.map((one) => one.body)).toEqual([body]);
  expect(sent[0]?.headers.get('content-type')).toBe('application/json');
});

test('what became of it is asked for as often as the service says, until nothing is under way', async () => {
  const status =
    (outcome: string, headers: Record<string, string> = {}) =>
    () =>
      Response.json({ id: 'r1', status: 'ACCEPTED', events: [{ outcome }] }, { headers });
  const { client, sent } = setup([
    status('PENDING', { 'retry-after': '2' }),
    status('PENDING'),
    status('DONE'),
  ]);
  const settled = client.settled('https://service.test/api/v1/receipt-status/t1');
  await vi.waitFor(() => expect(sent).toHaveLength(3), { timeout: 20_000, interval: 100 });
  expect(await settled).toMatchObject({ events: [{ outcome: 'DONE' }] });
  const [first = 0, second = 0, third = 0] = sent.map(({ at }) => at);
  expect(second - first).toBeGreaterThanOrEqual(2000);
  expect(third - second).toBeGreaterThanOrEqual(5000);
  expect(sent[2]?.url).toBe('https://service.test/under/api/v1/receipt-status/t1');
});
