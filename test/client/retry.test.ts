/** Requests that the client sends again, when, and those that it never does; on a clock that the test moves. */
import { createClient, type ClientOptions, ProblemError, unwrap } from '@trackport/client';
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
function clientOf(replies: Reply[], options: Partial<ClientOptions> = {}) {
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

/** A body that begins, and then breaks off, or says nothing more. */
const begun = (isCut: boolean): Response =>
  new Response(
    new ReadableStream({
      pull: (controller) => {
        controller.enqueue(new TextEncoder().encode('{"id":'));
        return isCut ? controller.error(lost()) : new Promise(() => undefined);
      },
    }),
  );

test.each([
  ['is cut', true, 1000],
  ['says nothing more', false, 6000],
])('a body that %s is sent for again', async (_what, isCut, withinMs) => {
  const { client } = clientOf([begun(isCut), me()], { timeoutMs: 5000 });
  const read = client.GET('/api/v1/me');
  await vi.advanceTimersByTimeAsync(withinMs);
  expect(unwrap(await read).id).toBe('c1');
});

test('the last attempt ends with its time, in the middle of a body, too', async () => {
  const { client } = clientOf([begun(false)], { timeoutMs: 5000, attemptsMax: 1 });
  const read = client.GET('/api/v1/me').catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(5000);
  expect(await read).toMatchObject({ name: 'TimeoutError' });
});

test('a call that is still at work is sent again once it may be', async () => {
  const atWork = json(409, { code: 'idempotency-in-progress' }, { 'retry-after': '1' });
  const { client, sent } = clientOf([atWork, json(201, {})]);
  const params = { header: { 'Idempotency-Key': 'k1' } };
  const created = client.POST('/api/v1/catalog', { ...create, params });
  await vi.advanceTimersByTimeAsync(1000);
  expect([(await created).response.status, sent.length]).toEqual([201, 2]);
});

test('a conflict is not sent again', async () => {
  const { client, sent } = clientOf([json(409, { code: 'version-exists' })]);
  const params = { header: { 'Idempotency-Key': 'k1' } };
  const { response } = await client.POST('/api/v1/catalog', { ...create, params });
  expect([response.status, sent.length]).toEqual([409, 1]);
});

test('a longer wait than it may be is the answer itself', async () => {
  const { client, sent } = clientOf([busy('121')], { waitMsMax: 120_000 });
  const { response } = await client.GET('/api/v1/me');
  expect([response.status, sent.length]).toEqual([503, 1]);
});
