import { describe, expect, test } from 'vitest';

import { createFaults, type Fault, seededRandom } from '#sandbox/instruments/faults.ts';
import type { Tracker } from '#sandbox/tracker/tracker-api.ts';

import { openTracker, REPO } from '../support.ts';

const authorization = 'Bearer admin-token';

async function openWithIssue(): Promise<Tracker> {
  const tracker = await openTracker();
  tracker.createIssue({ title: 'A', labels: ['approved'] });
  return tracker;
}

function get(tracker: Tracker, signal?: AbortSignal): Promise<Response> {
  return fetch(`${tracker.url}${REPO}/issues/1`, {
    headers: { authorization },
    redirect: 'manual',
    ...(signal ? { signal } : {}),
  });
}

function patch(tracker: Tracker, body: object): Promise<Response> {
  const options = { method: 'PATCH', headers: { authorization }, body: JSON.stringify(body) };
  return fetch(`${tracker.url}${REPO}/issues/1`, options);
}

const replacements: [Fault, number, string | undefined][] = [
  [{ kind: 'status', status: 502, text: '<h1>Bad gateway</h1>' }, 502, undefined],
  [{ kind: 'status', status: 200, json: { id: 1 } }, 200, undefined],
  [{ kind: 'redirect', location: 'http://127.0.0.1:9/elsewhere' }, 301, 'location'],
  [{ kind: 'primary-limit' }, 403, 'x-ratelimit-reset'],
  [{ kind: 'primary-limit', status: 429 }, 429, 'x-ratelimit-reset'],
  [{ kind: 'secondary-limit', retryAfterSeconds: 7 }, 403, 'retry-after'],
  [{ kind: 'bad-credentials' }, 401, undefined],
  [{ kind: 'repository-missing' }, 404, undefined],
];

describe('faults that answer in place of the tracker', () => {
  test.each(replacements)(
    '%j hits one request and is not billed',
    async (fault, status, header) => {
      const tracker = await openWithIssue();
      tracker.fault(fault);
      const response = await get(tracker);
      expect(response.status).toBe(status);
      if (header) expect(response.headers.has(header)).toBe(true);
      await response.body?.cancel();
      expect(tracker.calls.entries).toMatchObject([{ status, billed: false }]);
      expect((await get(tracker)).status).toBe(200);
    },
  );

  test('a secondary limit says so in its message', async () => {
    const tracker = await openWithIssue();
    tracker.fault({ kind: 'secondary-limit' });
    expect(await (await get(tracker)).text()).toMatch(/\bsecondary rate\b/i);
  });

  test('after: the write has its effect, only the answer is wrong', async () => {
    const tracker = await openWithIssue();
    tracker.fault({ kind: 'status', status: 500, when: 'after', method: 'PATCH' });
    expect((await patch(tracker, { state: 'closed' })).status).toBe(500);
    expect(tracker.readIssue(1)?.state).toBe('closed');
  });
});

describe('faults that bend or lose the answer', () => {
  test('truncated JSON, no body, dropped labels', async () => {
    const tracker = await openWithIssue();
    tracker.fault({ kind: 'truncated' });
    const text = await (await get(tracker)).text();
    expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError);
    tracker.fault({ kind: 'empty' });
    const empty = await get(tracker);
    expect([await empty.text(), empty.headers.get('content-type')]).toEqual(['', null]);
    tracker.fault({ kind: 'drop-labels' });
    const dropped = await patch(tracker, { labels: [], state: 'closed' });
    expect(await dropped.json()).toMatchObject({ state: 'closed', labels: [{ name: 'approved' }] });
  });

  test.each(['before', 'after'] as const)('a connection reset %s the write', async (when) => {
    const tracker = await openWithIssue();
    tracker.fault({ kind: 'reset', when });
    await expect(patch(tracker, { state: 'closed' })).rejects.toThrow('fetch failed');
    expect(tracker.readIssue(1)?.state).toBe(when === 'after' ? 'closed' : 'open');
  });

  test('a hanging request ends with its client, and close does not wait for it', async () => {
    const tracker = await openWithIssue();
    tracker.fault({ kind: 'hang' });
    const abort = new AbortController();
    const hanging = get(tracker, abort.signal);
    await expect.poll(() => tracker.calls.count()).toBe(1);
    abort.abort();
    await expect(hanging).rejects.toThrow('aborted');
    tracker.fault({ kind: 'hang' });
    const lost = get(tracker);
    lost.catch(() => {});
    await expect.poll(() => tracker.calls.count()).toBe(2);
    await tracker.close();
    await expect(lost).rejects.toThrow('fetch failed');
  });
});

test('method, path, skip and count choose the requests that are hit', () => {
  const faults = createFaults(() => 0);
  const hits = (method: string, path: string): boolean =>
    faults.next({
      method,
      path,
      query: new URLSearchParams(),
      headers: {},
      body: Buffer.alloc(0),
    }) !== undefined;
  faults.add({ kind: 'hang', method: 'GET', path: '/issues$', skip: 1, count: 2 });
  expect(hits('POST', '/issues')).toBe(false);
  expect(hits('GET', '/issues/1')).toBe(false);
  expect([1, 2, 3, 4].map(() => hits('GET', '/issues'))).toEqual([false, true, true, false]);
});

test('faults by chance are the same for the same seed', () => {
  const run = (seed: number): string => {
    const faults = createFaults(seededRandom(seed));
    faults.add({ kind: 'hang', probability: 0.3, count: Infinity });
    const request = {
      method: 'GET',
      path: '/',
      query: new URLSearchParams(),
      headers: {},
      body: Buffer.alloc(0),
    };
    return Array.from({ length: 200 }, () => (faults.next(request) ? 'x' : '.')).join('');
  };
  expect(run(7)).toBe(run(7));
  expect(run(7)).not.toBe(run(8));
  const share = run(7).split('x').length / 200;
  expect(share).toBeGreaterThan(0.2);
  expect(share).toBeLessThan(0.4);
});

test('a gate holds an answer that was made before a change', async () => {
  const tracker = await openWithIssue();
  const gate = tracker.hold({ method: 'GET' });
  const held = get(tracker);
  await gate.arrived();
  tracker.setState(1, 'closed');
  gate.open();
  expect(await (await held).json()).toMatchObject({ state: 'open' });
  expect(await (await get(tracker)).json()).toMatchObject({ state: 'closed' });
});
