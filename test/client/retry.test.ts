/** What the client sends again, when, and what never; on a clock that the test moves. */
import { createClient, ProblemError, unwrap } from '@trackport/client';
import { expect, onTestFinished, test, vi } from 'vitest';

type Reply = Response | Error;

const json = (status: number, body: unknown, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers });
const busy = (retryAfter?: string): Response =>
  json(
    503,
    { code: 'tracker-unavailable', status: 503 },
    retryAfter === undefined ? {} : { 'retry-after': retryAfter },
  );
const me = (): Response => json(200, { id: 'c1' });
const lost = (): Error => new TypeError('fetch failed');

/** A client whose calls get these replies, in turn; and what it sent. */
function clientOf(replies: Reply[], options: { attemptsMax?: number } = {}) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const sent: { at: number; body: string }[] = [];
  const fetch = async (input: string | URL | Request): Promise<Response> => {
    sent.push({ at: Date.now(), body: await (input as Request).text() });
    const reply = replies.shift() ?? new Error('one call too many');
    if (reply instanceof Error) throw reply;
    return reply;
  };
  return { client: createClient({ baseUrl: 'http://service.test', fetch, ...options }), sent };
}

test.each([
  ['seconds', () => '7'],
  ['a date', () => new Date(Date.now() + 7000).toUTCString()],
])('waits as long as Retry-After says in %s', async (_form, retryAfter) => {
  const replies: Reply[] = [];
  const { client, sent } = clientOf(replies);
  vi.setSystemTime('2026-03-01T12:00:00Z');
  replies.push(busy(retryAfter()), me());
  const read = client.GET('/api/v1/me');
  await vi.advanceTimersByTimeAsync(6999);
  expect(sent).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(unwrap(await read).id).toBe('c1');
});

test('waits for a call that found nobody, longer each time', async () => {
  const { client, sent } = clientOf([lost(), lost(), lost(), me()]);
  const read = client.GET('/api/v1/me');
  await vi.advanceTimersByTimeAsync(3500);
  expect(unwrap(await read).id).toBe('c1');
  const waits = sent.slice(1).map(({ at }, index) => at - (sent[index]?.at ?? 0));
  expect(waits).toHaveLength(3);
  for (const [index, waitMs] of waits.entries()) {
    expect(waitMs).toBeGreaterThanOrEqual(250 * 2 ** index);
    expect(waitMs).toBeLessThanOrEqual(500 * 2 ** index);
  }
});

test('gives up after as many attempts as it may make', async () => {
  const { client, sent } = clientOf([busy('1'), busy('1'), busy('1')], { attemptsMax: 3 });
  const read = client.GET('/api/v1/me');
  await vi.advanceTimersByTimeAsync(2000);
  const { error, response } = await read;
  expect([error?.code, response.status, sent.length]).toEqual(['tracker-unavailable', 503, 3]);
});

test('a refusal is not sent again, and is an error with all that it says', async () => {
  const errors = [{ parameter: 'limit', code: 'too_big', detail: 'must be at most 100' }];
  const problem = { code: 'validation-failed', status: 400, detail: 'Look at errors.', errors };
  const { client, sent } = clientOf([json(400, problem, { 'x-request-id': 'r1' })]);
  const thrown = client.leads({ limit: 101 }).next();
  await expect(thrown).rejects.toThrow('400 validation-failed: Look at errors.');
  await expect(thrown).rejects.toMatchObject({ status: 400, errors, requestId: 'r1' });
  await expect(thrown).rejects.toBeInstanceOf(ProblemError);
  expect(sent).toHaveLength(1);
});

test('what a proxy says is an error without a code', async () => {
  const { client } = clientOf([new Response('<h1>Bad Gateway</h1>', { status: 502 })], {
    attemptsMax: 1,
  });
  await expect(client.leads().next()).rejects.toMatchObject({ status: 502, code: undefined });
});

const create = {
  body: { id: 'orders', version: '1.0.0', type: 'API', owner: 'team', title: 'Orders' },
} as const;

test('a creation is not sent twice', async () => {
  const { client, sent } = clientOf([busy('1')]);
  const { response } = await client.POST('/api/v1/catalog', create);
  expect([response.status, sent.length]).toEqual([503, 1]);
  const other = clientOf([lost()]);
  await expect(other.client.POST('/api/v1/catalog', create)).rejects.toThrow('fetch failed');
});

test('a creation with an Idempotency-Key is sent again, whole', async () => {
  const { client, sent } = clientOf([lost(), json(201, {})]);
  const params = { header: { 'Idempotency-Key': 'k1' } };
  const created = client.POST('/api/v1/catalog', { ...create, params });
  await vi.advanceTimersByTimeAsync(1000);
  expect((await created).response.status).toBe(201);
  expect(sent.map(({ body }) => body)).toEqual([sent[0]?.body, JSON.stringify(create.body)]);
});

test('an abort ends the wait', async () => {
  const { client } = clientOf([busy('3600')]);
  const hangUp = new AbortController();
  const ended = client
    .leads({ signal: hangUp.signal })
    .next()
    .catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(10);
  hangUp.abort(new Error('enough'));
  expect(await ended).toMatchObject({ message: 'enough' });
});

test('an address that is none is refused at once', () => {
  expect(() => createClient({ baseUrl: 'adapter' })).toThrow(TypeError);
});
