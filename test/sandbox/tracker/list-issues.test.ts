import { Octokit } from '@octokit/rest';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { parseCursor } from '#sandbox/tracker/api/documents/cursor.ts';
import type { Tracker } from '#sandbox/tracker/tracker-api.ts';

import { openTracker, REPO, send } from '../support.ts';

type Row = { number: number; id: number; updated_at: string; pull_request?: object };

function numbersOf(rows: readonly Row[]): number[] {
  return rows.map(({ number }) => number);
}

function nextOf(headers: Headers): string | undefined {
  return /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
}

async function walk(
  tracker: Tracker,
  query: string,
  between: () => void = () => {},
): Promise<number[]> {
  const seen: number[] = [];
  let path: string | undefined = `${REPO}/issues?${query}`;
  while (path) {
    const { data, headers } = await send(tracker, `GET ${path}`);
    seen.push(...numbersOf(data));
    path = nextOf(headers)?.slice(tracker.url.length);
    between();
  }
  return seen;
}

function seed(tracker: Tracker, count: number): void {
  const start = Date.parse('2026-01-01T00:00:00Z');
  tracker.seedIssues(
    Array.from({ length: count }, (_, at) => ({
      title: `Lead ${at + 1}`,
      labels: at % 2 === 0 ? ['approved'] : [],
      isPullRequest: at % 5 === 4,
      // Three issues share each second, so that ties matter.
      createdAt: start + Math.floor(at / 3) * 1000,
      updatedAt: start + ((at * 7) % count) * 1000,
      state: at % 4 === 3 ? ('closed' as const) : ('open' as const),
    })),
  );
}

describe('paging', () => {
  test('Link has next and prev with a cursor and the numeric repository, never first or last', async () => {
    const tracker = await openTracker();
    seed(tracker, 30);
    const first = await send(tracker, `GET ${REPO}/issues?state=all&per_page=10`);
    expect(first.headers.get('link')).toMatch(
      /^<http:\/\/127\.0\.0\.1:\d+\/repositories\/\d+\/issues\?state=all&per_page=10&after=[^&]+&page=2>; rel="next"$/,
    );
    const second = await send(tracker, `GET ${nextOf(first.headers)?.slice(tracker.url.length)}`);
    const relations = [...(second.headers.get('link') ?? '').matchAll(/rel="(\w+)"/g)];
    expect(relations.map(([, rel]) => rel)).toEqual(['next', 'prev']);
    const prev = /page=3>; rel="next", <([^>]+before=[^>]+page=1)>/.exec(
      second.headers.get('link') ?? '',
    )?.[1];
    const back = await send(tracker, `GET ${prev?.slice(tracker.url.length)}`);
    expect(numbersOf(back.data)).toEqual(numbersOf(first.data));
  });

  test('a cursor is the last row’s sort value and id in MessagePack', async () => {
    const tracker = await openTracker();
    seed(tracker, 5);
    const { data, headers } = await send(tracker, `GET ${REPO}/issues?state=all&per_page=2`);
    const after = new URL(nextOf(headers) ?? '').searchParams.get('after') ?? '';
    const last = (data as Row[]).at(-1);
    const bytes = Buffer.from(after, 'base64url');
    expect(bytes.subarray(0, 10).toString()).toBe('cursor:v2:');
    expect([...bytes.subarray(10, 12)]).toEqual([0x92, 0xcf]);
    expect(bytes.at(20)).toBe(0xce);
    expect(parseCursor(after)).toEqual({
      value: tracker.readIssue(last?.number ?? 0)?.createdAt,
      id: last?.id,
    });
  });

  test.each(['', 'sort=updated', 'sort=updated&direction=asc', 'sort=comments', 'sort=nonsense'])(
    'a walk by cursor shows every issue once (%s)',
    async (order) => {
      const tracker = await openTracker();
      seed(tracker, 57);
      const seen = await walk(tracker, `state=all&per_page=7&${order}`);
      expect([...seen].sort((a, b) => a - b)).toEqual(numbersOf(tracker.issues() as never));
    },
  );

  test('closing issues during a walk of open ones skips no other', async () => {
    const tracker = await openTracker();
    seed(tracker, 60);
    const open = tracker.issues().filter(({ state }) => state === 'open');
    const closing = open.map(({ number }) => number).reverse();
    const seen = await walk(tracker, 'per_page=5', () => {
      const number = closing.shift();
      if (number) tracker.setState(number, 'closed');
    });
    expect(new Set(seen).size).toBe(seen.length);
    expect(numbersOf(tracker.issues().filter(({ state }) => state === 'open') as never)).toSatisfy(
      (still: number[]) => still.every((number) => seen.includes(number)),
    );
  });

  test('the next page goes on by value when the row of the cursor is gone', async () => {
    const tracker = await openTracker();
    seed(tracker, 20);
    const first = await send(tracker, `GET ${REPO}/issues?state=all&per_page=5`);
    const before = await send(tracker, `GET ${nextOf(first.headers)?.slice(tracker.url.length)}`);
    tracker.deleteIssue(numbersOf(first.data).at(-1) ?? 0);
    const after = await send(tracker, `GET ${nextOf(first.headers)?.slice(tracker.url.length)}`);
    expect(after.data).toEqual(before.data);
  });

  test('a deep page is 422 unless it comes with a cursor', async () => {
    const tracker = await openTracker({ pageWall: 20 });
    seed(tracker, 40);
    expect((await send(tracker, `GET ${REPO}/issues?state=all&per_page=10&page=2`)).status).toBe(
      200,
    );
    const refused = await send(tracker, `GET ${REPO}/issues?state=all&per_page=10&page=3`);
    expect(refused).toMatchObject({ status: 422, data: { status: '422' } });
    expect(refused.text).toContain('after/before');
    expect(await walk(tracker, 'state=all&per_page=10')).toHaveLength(40);
  });

  test('Octokit paginates through all of it', async () => {
    const tracker = await openTracker({ pageWall: 100 });
    seed(tracker, 250);
    const octokit = new Octokit({ baseUrl: tracker.url, auth: 'read-token' });
    const rows = await octokit.paginate('GET /repos/{owner}/{repo}/issues', {
      owner: 'acme',
      repo: 'leads',
      state: 'all',
      per_page: 100,
    });
    expect(new Set(numbersOf(rows)).size).toBe(250);
    expect(tracker.calls.count()).toBe(3);
  });
});

describe('filters', () => {
  test.each([
    ['150', 100],
    ['0', 30],
    ['-5', 30],
    ['abc', 30],
    ['1', 1],
  ])('per_page=%s gives %i rows', async (perPage, rows) => {
    const tracker = await openTracker();
    seed(tracker, 120);
    const { data } = await send(tracker, `GET ${REPO}/issues?state=all&per_page=${perPage}`);
    expect(data).toHaveLength(rows);
  });

  test('labels mean all of them, whatever their case', async () => {
    const tracker = await openTracker();
    tracker.createIssue({ title: 'both', labels: ['Approved', 'priority: high'] });
    tracker.createIssue({ title: 'one', labels: ['Approved'] });
    const { data } = await send(tracker, `GET ${REPO}/issues?labels=approved,Priority:%20HIGH`);
    expect(data).toMatchObject([{ title: 'both' }]);
  });

  test('an unknown state is 422, an unknown sort is order by id', async () => {
    const tracker = await openTracker();
    seed(tracker, 9);
    expect(await send(tracker, `GET ${REPO}/issues?state=merged`)).toMatchObject({
      status: 422,
      data: { errors: [{ value: 'merged', resource: 'Issue', field: 'state', code: 'invalid' }] },
    });
    const { data } = await send(tracker, `GET ${REPO}/issues?state=all&sort=x&direction=asc`);
    expect(numbersOf(data)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1]);
  });

  test('since keeps what changed at or after it', async () => {
    const tracker = await openTracker();
    seed(tracker, 30);
    const since = '2026-01-01T00:00:20Z';
    const { data } = await send(
      tracker,
      `GET ${REPO}/issues?state=all&sort=updated&direction=asc&since=${since}`,
    );
    const dates = (data as Row[]).map(({ updated_at }) => updated_at);
    expect(dates[0]).toBe(since);
    expect([...dates].sort()).toEqual(dates);
    expect(dates).toHaveLength(10);
  });

  test('pull requests are mixed in and marked', async () => {
    const tracker = await openTracker();
    seed(tracker, 10);
    const { data } = await send(tracker, `GET ${REPO}/issues?state=all`);
    const marked = (data as Row[]).filter(({ pull_request }) => pull_request);
    expect(numbersOf(marked)).toEqual([10, 5]);
  });
});

test('pages of any size and order agree with sorting everything', async () => {
  const tracker = await openTracker({ quota: 1_000_000 });
  seed(tracker, 40);
  const query = fc.record({
    perPage: fc.integer({ min: 1, max: 12 }),
    state: fc.constantFrom('open', 'closed', 'all'),
    sort: fc.constantFrom('created', 'updated'),
    direction: fc.constantFrom('asc', 'desc'),
  });
  await fc.assert(
    fc.asyncProperty(query, async ({ perPage, state, sort, direction }) => {
      const key = sort === 'created' ? 'createdAt' : 'updatedAt';
      const rows = tracker.issues().filter((issue) => state === 'all' || issue.state === state);
      rows.sort((a, b) => a[key] - b[key] || a.id - b.id);
      if (direction === 'desc') rows.reverse();
      const seen = await walk(
        tracker,
        `state=${state}&sort=${sort}&direction=${direction}&per_page=${perPage}`,
      );
      expect(seen).toEqual(numbersOf(rows as never));
    }),
    { numRuns: 25 },
  );
});
