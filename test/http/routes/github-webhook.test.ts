import { afterEach, describe, expect, test } from 'vitest';
import type { HttpApp, TrackerWebhook } from '#http/context.ts';
import type { TrackerDelivery, TrackerEvent } from '#leads/lead-tracker.ts';
import { TrackportError } from '#shared/errors.ts';
import { buildTestApp } from '../../support/http/app.ts';

const URL = '/api/v1/webhooks/github';
const GOOD = `sha256=${'a'.repeat(64)}`;
const everything: TrackerEvent = { kind: 'everything' };
const genuine = {
  'content-type': 'application/json',
  'x-github-event': 'label',
  'x-hub-signature-256': GOOD,
};

let app: HttpApp;
afterEach(() => app.close());

function serve(deps: Partial<TrackerWebhook> = {}) {
  const deliveries: TrackerDelivery[] = [];
  app = buildTestApp({
    refusedPerMinute: 2,
    trackerWebhook: {
      verify: async (delivery) => {
        deliveries.push(delivery);
        if (delivery.signature === GOOD) return everything;
        throw new TrackportError('unauthorized', { detail: 'No.', challenge: 'Signature' });
      },
      onTrackerEvent: () => undefined,
      onRefused: () => undefined,
      settled: async () => {},
      ...deps,
    },
  });
  return deliveries;
}

describe('a delivery', () => {
  test('is verified over its bytes as they came, then acknowledged with 202', async () => {
    const deliveries = serve();
    const payload = Buffer.from('\uFEFF{"a" : 1}\r\n\xff', 'latin1');
    const response = await app.inject({ method: 'POST', url: URL, payload, headers: genuine });
    expect(response.statusCode).toBe(202);
    expect(deliveries).toEqual([{ event: 'label', signature: GOOD, rawBody: payload }]);
  });

  test('that is refused gets 401, after too many from one address 429, and a genuine one still 202', async () => {
    serve();
    const post = (headers: Record<string, string>) =>
      app.inject({ method: 'POST', url: URL, payload: 'not json', headers });
    const forged = { ...genuine, 'x-hub-signature-256': `sha256=${'b'.repeat(64)}` };
    const refusals = [await post(forged), await post(forged), await post(forged)];
    expect(refusals.map(({ statusCode }) => statusCode)).toEqual([401, 401, 429]);
    expect(refusals[0]?.headers['www-authenticate']).toBe('Signature');
    expect((await post(genuine)).statusCode).toBe(202);
  });

  test('without body and signature is refused as unverified', async () => {
    const deliveries = serve();
    const response = await app.inject({ method: 'POST', url: URL });
    expect(response.statusCode).toBe(401);
    expect(deliveries).toEqual([]);
  });

  test.each([
    ['text', { 'content-type': 'text/plain' }],
    ['compressed bytes', { ...genuine, 'content-encoding': 'gzip' }],
    ['another charset', { ...genuine, 'content-type': 'application/json; charset=utf-16' }],
  ])('as %s is 415', async (_name, headers) => {
    serve();
    const response = await app.inject({ method: 'POST', url: URL, payload: '{}', headers });
    expect(response.statusCode).toBe(415);
    expect(response.json().code).toBe('unsupported-media-type');
  });

  test('may have 25 MiB, and not a byte more', async () => {
    serve();
    const size = 25 * 1024 * 1024;
    const post = (payload: Buffer) =>
      app.inject({ method: 'POST', url: URL, payload, headers: genuine });
    expect((await post(Buffer.alloc(size, 32))).statusCode).toBe(202);
    expect((await post(Buffer.alloc(size + 1, 32))).statusCode).toBe(413);
  });
});

describe('a refused delivery is told of, with its reason', () => {
  const other = `sha256=${'b'.repeat(64)}`;

  test.each<[string, Record<string, string | undefined>, Buffer | string, string[]]>([
    ['a wrong signature', { 'x-hub-signature-256': other }, '{}', ['signature-wrong']],
    ['none', { 'x-hub-signature-256': undefined }, '{}', ['signature-missing']],
    ['one of another form', { 'x-hub-signature-256': 'sha1=1' }, '{}', ['signature-malformed']],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 'a=b', ['content-type']],
    ['too many bytes', {}, Buffer.alloc(25 * 1024 * 1024 + 1, 32), ['too-large']],
    ['what is not JSON', { 'x-github-event': 'broken' }, '{', ['malformed']],
    ['our own load', { 'x-github-event': 'load' }, '{}', []],
    ['nothing amiss', {}, '{}', []],
    [
      'what no tracker sends',
      { 'x-github-event': undefined, 'x-hub-signature-256': undefined },
      '{}',
      [],
    ],
  ])('%s', async (_name, headers, payload, expected) => {
    const reasons: string[] = [];
    serve({
      verify: async ({ event, signature }) => {
        if (event === 'broken') throw new TrackportError('malformed-json');
        if (event === 'load') throw new TrackportError('overloaded');
        if (signature === GOOD) return everything;
        throw new TrackportError('unauthorized');
      },
      onRefused: (reason) => void reasons.push(reason),
    });
    const present = Object.entries({ ...genuine, ...headers }).filter(([, value]) => value);
    const sent = Object.fromEntries(present);
    await app.inject({ method: 'POST', url: URL, payload, headers: sent });
    expect(reasons).toEqual(expected);
  });

  test('also when its address has been refused too often', async () => {
    const reasons: string[] = [];
    serve({ onRefused: (reason) => void reasons.push(reason) });
    const headers = { ...genuine, 'x-hub-signature-256': other };
    for (const _ of [1, 2, 3])
      await app.inject({ method: 'POST', url: URL, payload: '{}', headers });
    expect(reasons).toEqual(Array(3).fill('signature-wrong'));
  });
});

describe('the work', () => {
  test('comes after the response, and closing waits for all that comes of it', async () => {
    const gate = Promise.withResolvers<void>();
    const log: string[] = [];
    serve({
      onTrackerEvent: () => void log.push('event'),
      settled: async () => {
        log.push('settling');
        await gate.promise;
        log.push('settled');
      },
    });
    for (const _ of [1, 2]) {
      const response = await app.inject({
        method: 'POST',
        url: URL,
        payload: '{}',
        headers: genuine,
      });
      expect(response.statusCode).toBe(202);
    }
    const closed = app.close().then(() => log.push('closed'));
    gate.resolve();
    await closed;
    expect(log).toEqual(['event', 'event', 'settling', 'settled', 'closed']);
  });

  test('may fail without harm to the response and to what comes next', async () => {
    let calls = 0;
    serve({
      onTrackerEvent: () => {
        calls += 1;
        throw new Error('no');
      },
    });
    for (const _ of [1, 2])
      await app.inject({ method: 'POST', url: URL, payload: '{}', headers: genuine });
    await app.close();
    expect(calls).toBe(2);
  });
});

test('a delivery that is verified for long holds up nobody', async () => {
  const gate = Promise.withResolvers<void>();
  const worked: TrackerEvent[] = [];
  const eventOf = (title: string): TrackerEvent => ({
    kind: 'issue',
    issue: { number: 1, title, updatedAt: 5000 } as never,
    isGone: false,
  });
  serve({
    verify: async ({ event = '' }) => {
      if (event === 'slow') await gate.promise;
      return eventOf(event);
    },
    onTrackerEvent: (event) => void worked.push(event),
  });
  const post = (event: string) =>
    app.inject({
      method: 'POST',
      url: URL,
      payload: '{}',
      headers: { ...genuine, 'x-github-event': event },
    });
  const slow = post('slow').then(({ statusCode }) => statusCode);
  expect((await post('fast')).statusCode).toBe(202);
  await expect.poll(() => worked).toEqual([eventOf('fast')]);
  gate.resolve();
  expect(await slow).toBe(202);
  await app.close();
  expect(worked).toEqual([eventOf('fast'), eventOf('slow')]);
});
