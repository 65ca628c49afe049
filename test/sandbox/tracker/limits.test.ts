import { describe, expect, test } from 'vitest';

import { createFakeClock } from '../../support/clock.ts';
import { openTracker, REPO, send } from '../support.ts';

function quotaOf(headers: Headers): { used: number; remaining: number } {
  return {
    used: Number(headers.get('x-ratelimit-used')),
    remaining: Number(headers.get('x-ratelimit-remaining')),
  };
}

test('a version of the API announces its end, and is 410 for everything after it', async () => {
  const clock = createFakeClock();
  const tracker = await openTracker({ clock });
  const ends = { deprecatedAt: clock.now() - 1000, sunsetAt: clock.now() + 60_000 };
  tracker.endVersion('2022-11-28', ends);
  const before = await send(tracker, `GET ${REPO}`);
  expect(before.headers.get('deprecation')).toBe(new Date(ends.deprecatedAt).toUTCString());
  expect(before.headers.get('sunset')).toBe(new Date(ends.sunsetAt).toUTCString());
  await clock.advance(60_000);
  const newer = { 'x-github-api-version': '2026-03-10' };
  for (const path of [REPO, `${REPO}/issues`, '/user'])
    expect((await send(tracker, `GET ${path}`)).status).toBe(410);
  const { status, headers } = await send(tracker, `GET ${REPO}/labels`, { headers: newer });
  expect({ status, sunset: headers.get('sunset') }).toEqual({ status: 200, sunset: null });
});

describe('conditional requests', () => {
  test('an unchanged answer is 304: free, empty, with Link and rate headers', async () => {
    const tracker = await openTracker();
    for (const title of ['A', 'B', 'C']) tracker.createIssue({ title });
    const first = await send(tracker, `GET ${REPO}/issues?per_page=2`);
    const etag = first.headers.get('etag') ?? '';
    const again = await send(tracker, `GET ${REPO}/issues?per_page=2`, {
      headers: { 'if-none-match': etag },
    });
    expect(again).toMatchObject({ status: 304, text: '' });
    expect(again.headers.get('link')).toBe(first.headers.get('link'));
    expect(quotaOf(again.headers)).toEqual(quotaOf(first.headers));
    expect(tracker.calls.entries.map(({ status, billed }) => [status, billed])).toEqual([
      [200, true],
      [304, false],
    ]);
  });

  test('the tag covers credential and body, not address nor Link', async () => {
    const tracker = await openTracker();
    for (const title of ['A', 'B']) tracker.createIssue({ title });
    const tagOf = async (query: string, token: string) =>
      (await send(tracker, `GET ${REPO}/issues?${query}`, { token })).headers.get('etag');
    const tag = await tagOf('per_page=1&direction=asc', 'read-token');
    expect(await tagOf('per_page=1&direction=asc&state=all', 'read-token')).toBe(tag);
    expect(await tagOf('per_page=1&direction=asc', 'write-token')).not.toBe(tag);
    tracker.deleteIssue(2);
    const headers = { 'if-none-match': tag ?? '' };
    const last = await send(tracker, `GET ${REPO}/issues?per_page=1&direction=asc`, {
      token: 'read-token',
      headers,
    });
    expect(last.status).toBe(304);
    expect(last.headers.get('link')).toBeNull();
  });

  test('a compressed answer has a weak tag, a small one a strong tag', async () => {
    const tracker = await openTracker();
    tracker.createIssue({ title: 'A' });
    expect((await send(tracker, `GET ${REPO}/issues`)).headers.get('etag')).toMatch(
      /^W\/"[0-9a-f]{64}"$/,
    );
    expect((await send(tracker, `GET ${REPO}/labels`)).headers.get('etag')).toMatch(
      /^"[0-9a-f]{64}"$/,
    );
  });
});

describe('the primary limit', () => {
  test('counts per user, refuses at nothing left, and starts anew after an hour', async () => {
    const clock = createFakeClock();
    const tracker = await openTracker({ clock, quota: 2 });
    const statuses: number[] = [];
    for (let count = 0; count < 3; count += 1)
      statuses.push((await send(tracker, `GET ${REPO}/issues`)).status);
    expect(statuses).toEqual([200, 200, 403]);
    const refused = await send(tracker, `GET ${REPO}/issues`);
    expect(refused.text).toContain('rate limit exceeded');
    expect(quotaOf(refused.headers)).toEqual({ used: 2, remaining: 0 });
    expect(Number(refused.headers.get('x-ratelimit-reset')) * 1000).toBe(clock.now() + 3_600_000);
    expect((await send(tracker, `GET ${REPO}/issues`, { token: 'read-token' })).status).toBe(200);
    await clock.advance(3_600_000);
    expect((await send(tracker, `GET ${REPO}/issues`)).status).toBe(200);
  });

  test('asking for the limits is free', async () => {
    const tracker = await openTracker();
    tracker.setQuota({ remaining: 17 });
    const { data } = await send(tracker, 'GET /rate_limit');
    expect(data).toMatchObject({ resources: { core: { remaining: 17 } } });
    expect((await send(tracker, 'GET /rate_limit')).data).toEqual(data);
  });

  test('GraphQL over its limit is 200 with an error', async () => {
    const tracker = await openTracker();
    tracker.setQuota({ remaining: 0 });
    const { status, data } = await send(tracker, 'POST /graphql', {
      body: { query: '{viewer{login}}' },
    });
    expect({ status, data }).toMatchObject({
      status: 200,
      data: { errors: [{ type: 'RATE_LIMITED' }] },
    });
  });
});
