import { connect } from 'node:net';
import nock from 'nock';
import { afterEach, beforeAll, describe, expect, test, onTestFinished } from 'vitest';
import type { HttpApp } from '#http/context.ts';
import { type ErrorCode, TrackportError } from '#shared/errors.ts';
import type { Log, LogFields } from '#shared/log.ts';
import { buildTestApp, type TestAppSetup } from '../../support/http/app.ts';
import { createFakeClock } from '../../support/clock.ts';
import { fakeLeads, GOOD_KEY, withKey } from '../../support/http/leads.ts';
import type { Tracing } from '#shared/tracing.ts';
import { eventually } from '../../support/eventually.ts';

type Line = { level: string; fields: LogFields; message: string };

let app: HttpApp;
afterEach(() => app.close());
// It would read our broken HTTP in the server's place.
beforeAll(() => nock.restore());

function serve(deps: TestAppSetup = {}): Line[] {
  const lines: Line[] = [];
  const at =
    (level: string) =>
    (fields: LogFields, message: string): void => {
      lines.push({ level, fields, message });
    };
  const log: Log = {
    isDebug: () => true,
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
  };
  app = buildTestApp({ ...fakeLeads(), log, ...deps });
  return lines;
}

test('a successful read is one line for debugging, with ids and without what was requested', async () => {
  const lines = serve();
  const response = await app.inject({
    url: '/api/v1/leads?label=ada%40example.com&cursor=private',
    headers: { ...withKey, 'x-request-id': 'client-1', cookie: 'session=private' },
  });
  expect(lines).toEqual([
    {
      level: 'debug',
      message: 'request answered',
      fields: {
        requestId: response.headers['x-request-id'],
        method: 'GET',
        route: '/api/v1/leads',
        status: 200,
        durationMs: expect.any(Number),
        clientRequestId: 'client-1',
        consumerId: 'consumer-1',
        keyId: 'key-1',
      },
    },
  ]);
});

test('a refusal is logged with its code, and neither key nor query nor path', async () => {
  const lines = serve();
  await app.inject({ url: '/api/v1/leads?since=private', headers: withKey });
  await app.inject({ url: '/api/v1/leads?x=private', headers: { 'x-api-key': 'tpk_private' } });
  await app.inject('/private/ada@example.com?token=private');
  await app.inject('/api/v1/leads/%zz-private');
  expect(
    lines.map(({ level, fields }) => [level, fields['status'], fields['code'], fields['route']]),
  ).toEqual([
    ['info', 400, 'validation-failed', '/api/v1/leads'],
    ['info', 401, 'unauthorized', '/api/v1/leads'],
    ['info', 404, 'not-found', 'unknown'],
    ['info', 400, 'bad-request', 'unknown'],
  ]);
  expect(JSON.stringify(lines)).not.toMatch(new RegExp(`private|example|${GOOD_KEY}`));
});

test.each(['a'.repeat(129), 'with space', 'tab\there', 'umlaut-ü', 'ada@example.com'])(
  "a caller's request id %j is not taken into the log, and ours is always new",
  async (given) => {
    const lines = serve();
    const call = () =>
      app.inject({ url: '/problems/overloaded', headers: { 'x-request-id': given } });
    const ids = [(await call()).headers['x-request-id'], (await call()).headers['x-request-id']];
    expect(new Set(ids).size).toBe(2);
    expect(lines.every(({ fields }) => fields['clientRequestId'] === undefined)).toBe(true);
  },
);

describe('refused requests', () => {
  const refusals = (lines: readonly Line[]) =>
    lines.map(({ level, message, fields: { status, count, codes } }) => [
      level,
      message,
      status ?? count,
      ...(codes === undefined ? [] : [codes]),
    ]);
  const nowhere = (count: number) =>
    Promise.all(Array.from({ length: count }, () => app.inject('/nowhere')));

  test('get a line each up to 10 a second, and one for all that come on top', async () => {
    const clock = createFakeClock();
    const lines = serve({ clock });
    await nowhere(11);
    await app.inject('/api/v1/leads');
    await nowhere(2);
    const each = Array.from({ length: 10 }, () => ['info', 'request answered', 404]);
    expect(refusals(lines)).toEqual(each);
    await clock.advance(1000);
    const all = ['info', 'more calls refused', 4, 'not-found=3 unauthorized=1'];
    expect(refusals(lines)).toEqual([...each, all]);
    await nowhere(10);
    await clock.advance(1000);
    await clock.advance(1000);
    expect(refusals(lines)).toEqual([...each, all, ...each]);
  });

  test('that were only counted are logged when the server closes', async () => {
    const lines = serve({ clock: createFakeClock() });
    await nowhere(12);
    await app.close();
    expect(refusals(lines).at(-1)).toEqual(['info', 'more calls refused', 2, 'not-found=2']);
  });

  test('that were no HTTP count with the others', async () => {
    const clock = createFakeClock();
    const lines = serve({ clock });
    const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }));
    await nowhere(10);
    const socket = connect(Number(port), '127.0.0.1', () => socket.end('FROB /\r\n\r\n'));
    await new Promise((resolve) => socket.resume().on('close', resolve));
    expect(lines).toHaveLength(10);
    await clock.advance(1000);
    expect(refusals(lines).at(-1)).toEqual(['info', 'more calls refused', 1, 'bad-request=1']);
  });

  test('for which there was no room are among them; what failed around us is not', async () => {
    const clock = createFakeClock();
    const failing = (code: ErrorCode) => {
      const failure = new TrackportError(code);
      const lines = serve({ clock, ...fakeLeads({ failure }) });
      return { lines, ask: () => app.inject({ url: '/api/v1/leads', headers: withKey }) };
    };
    const failures = (count: number) =>
      Array.from({ length: count }, () => ['warn', 'request failed', 503]);
    const full = failing('overloaded');
    for (let turn = 0; turn < 12; turn += 1) await full.ask();
    expect(refusals(full.lines)).toEqual(failures(10));
    await app.close();
    const broken = failing('store-unavailable');
    for (let turn = 0; turn < 12; turn += 1) await broken.ask();
    expect(refusals(broken.lines)).toEqual(failures(12));
  });
});

// It would stand between our socket and the server.
beforeAll(() => nock.restore());

type Ended = { name: string; attributes: Record<string, unknown>; errorType: string | undefined };

/** Requests that have ended, in order. */
function recordSpans(): { tracing: Tracing; ended: Ended[] } {
  const ended: Ended[] = [];
  const start: Tracing['start'] = (name, { attributes } = {}) => {
    const all = { ...attributes };
    return {
      run: (work) => work(),
      set: (more) => void Object.assign(all, more),
      end: (errorType) => void ended.push({ name, attributes: all, errorType }),
    };
  };
  return { tracing: { start, current: () => undefined }, ended };
}

async function open() {
  const { tracing, ended } = recordSpans();
  const arrived = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const app = buildTestApp({ tracing });
  app.get('/slow', async (request) => {
    request.logFacts = { receiptId: 'receipt-1' };
    arrived.resolve();
    await gate.promise;
    return { done: true };
  });
  onTestFinished(() => app.close());
  const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }));
  const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  socket.write('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n');
  await arrived.promise;
  return { socket, ended, gate };
}

test('a request has one span, which ends with its response', async () => {
  const { socket, ended, gate } = await open();
  expect(ended).toEqual([]);
  gate.resolve();
  await eventually(() => expect(ended).toHaveLength(1));
  const status = { 'http.response.status_code': 200, 'trackport.receipt_id': 'receipt-1' };
  expect(ended).toMatchObject([{ name: 'GET /slow', attributes: status, errorType: undefined }]);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.destroy();
  await closed;
  expect(ended).toHaveLength(1);
});

test('the span of a request ends where its caller goes away, too, and says so', async () => {
  const { socket, ended, gate } = await open();
  socket.destroy();
  await eventually(() => expect(ended).toHaveLength(1));
  expect(ended).toMatchObject([{ name: 'GET /slow', errorType: 'aborted' }]);
  expect(ended[0]?.attributes).toHaveProperty('trackport.receipt_id', 'receipt-1');
  expect(ended[0]?.attributes).not.toHaveProperty('http.response.status_code');
  gate.resolve();
});
