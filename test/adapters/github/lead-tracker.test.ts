import nock from 'nock';
import { describe, expect, test } from 'vitest';

import type { Issue, IssueQuery, LeadTracker } from '#leads/lead-tracker.ts';
import {
  API,
  createParts,
  watchNock,
  everythingIn,
  ISSUES,
  REPOSITORY,
  startServer,
  TOKEN,
  wireIssue,
  wireRepository,
} from './support.ts';
import { freePort } from '../../support/free-port.ts';

const newest: IssueQuery = { state: 'open', labels: [], order: 'created-desc' };
const newestParameters = { state: 'open', sort: 'created', direction: 'desc', per_page: '100' };
const isUnavailable = { code: 'tracker-unavailable' };
const isFailed = { code: 'tracker-failed' };

watchNock();

function linkTo(after: string): { link: string } {
  const target = `https://api.github.com/repositories/4711/issues?per_page=100&after=${after}&page=2`;
  return { link: `<${target}>; rel="next"` };
}

describe('listing issues', () => {
  test('sends exactly what the query says, and never a page', async () => {
    nock(API).get(ISSUES).query(newestParameters).reply(200, [wireIssue]);
    const { tracker } = createParts();
    const answer = await tracker.listIssues(newest);
    expect(answer).toMatchObject({ kind: 'changed', page: { issues: [{ number: 7 }] } });
    expect(answer).not.toHaveProperty('page.after');
    expect(answer).not.toHaveProperty('validator');
  });

  test('sends since in whole seconds, labels together, and the cursor as it came', async () => {
    nock(API)
      .get(ISSUES)
      .query({
        state: 'all',
        sort: 'updated',
        direction: 'asc',
        per_page: '100',
        labels: 'approved,Straße & co',
        since: '2026-02-02T11:30:05Z',
        after: 'Y3Vy+/c29y==',
      })
      .reply(200, []);
    const { tracker } = createParts();
    const query: IssueQuery = {
      state: 'all',
      labels: ['approved', 'with, comma', 'Straße & co'],
      order: 'updated-asc',
      since: Date.parse('2026-02-02T11:30:05.999Z'),
      after: 'Y3Vy+/c29y==',
    };
    await expect(tracker.listIssues(query)).resolves.toEqual({
      kind: 'changed',
      page: { issues: [] },
    });
  });

  test('sends no label filter when no name can be sent', async () => {
    nock(API).get(ISSUES).query(newestParameters).reply(200, []);
    const { tracker } = createParts();
    const answer = await tracker.listIssues({ ...newest, labels: ['a,b'] });
    expect(answer.kind).toBe('changed');
  });

  test('hands out pull requests, marked as such', async () => {
    nock(API)
      .get(ISSUES)
      .query(true)
      .reply(200, [{ ...wireIssue, pull_request: {} }, wireIssue]);
    const { tracker } = createParts();
    const answer = await tracker.listIssues(newest);
    expect(answer).toMatchObject({
      page: { issues: [{ isPullRequest: true }, { isPullRequest: false }] },
    });
  });

  test('keeps the entity tag as it came and sends it back as it was', async () => {
    nock(API).get(ISSUES).query(true).reply(200, [wireIssue], { etag: 'W/"abc"' });
    nock(API, { reqheaders: { 'if-none-match': 'W/"abc"' } })
      .get(ISSUES)
      .query(true)
      .reply(304, undefined, { etag: '"abc"' });
    const { tracker } = createParts();
    const first = await tracker.listIssues(newest);
    expect(first).toMatchObject({ validator: 'W/"abc"' });
    await expect(tracker.listIssues(newest, 'W/"abc"')).resolves.toEqual({ kind: 'unchanged' });
  });

  test('takes the cursor of the next page from a 304 too', async () => {
    nock(API).get(ISSUES).query(true).reply(304, undefined, linkTo('bmV3'));
    const { tracker } = createParts();
    await expect(tracker.listIssues(newest, '"abc"')).resolves.toEqual({
      kind: 'unchanged',
      after: 'bmV3',
    });
  });

  test('reads a 200 in place of a 304 as a change with a tag of its own', async () => {
    nock(API).get(ISSUES).query(true).reply(200, [wireIssue], { etag: 'W/"after-rotation"' });
    const { tracker } = createParts();
    await expect(tracker.listIssues(newest, 'W/"before"')).resolves.toMatchObject({
      kind: 'changed',
      validator: 'W/"after-rotation"',
    });
  });

  test('never follows a next link to another host', async () => {
    const thief = await startServer((_, response) => response.end('[]'));
    const link = `<${thief.url}/steal?after=Zm9v>; rel="next"`;
    nock(API).get(ISSUES).query(newestParameters).reply(200, [wireIssue], { link });
    nock(API, { reqheaders: { authorization: `token ${TOKEN}` } })
      .get(ISSUES)
      .query({ ...newestParameters, after: 'Zm9v' })
      .reply(200, []);
    const { tracker } = createParts();
    expect(await walk(tracker, newest)).toHaveLength(1);
    expect(thief.requests).toEqual([]);
  });

  test('would rather fail than take a list for complete that goes on', async () => {
    const paged = { link: '<https://api.github.com/repositories/1/issues?page=2>; rel="next"' };
    nock(API).get(ISSUES).query(true).reply(200, [wireIssue], paged);
    const { tracker } = createParts();
    await expect(tracker.listIssues(newest)).rejects.toMatchObject({
      ...isFailed,
      detail: expect.stringMatching(/by number alone.*page=.*no cursor.*doctor/) as string,
    });
    nock(API).get(ISSUES).query(true).reply(200, [wireIssue], paged);
    const further = { ...newest, after: 'bWlk' };
    await expect(tracker.listIssues(further)).rejects.toMatchObject(isFailed);
  });

  test('does not walk in a circle', async () => {
    nock(API).get(ISSUES).query(true).reply(200, [wireIssue], linkTo('c2FtZQ'));
    const { tracker } = createParts();
    await expect(tracker.listIssues({ ...newest, after: 'c2FtZQ' })).rejects.toMatchObject(
      isFailed,
    );
  });

  test('walks 1,500 issues against a tracker that refuses deep pages', async () => {
    const rows = Array.from({ length: 1500 }, (_, at) => ({ ...wireIssue, number: 1500 - at }));
    const server = await startServer((request, response) => {
      const { searchParams } = new URL(request.url ?? '', 'http://localhost');
      if (searchParams.has('page')) {
        response.writeHead(422).end('{"message":"In order to have results, use after"}');
        return;
      }
      const from = Number(searchParams.get('after') ?? 0);
      const to = from + Number(searchParams.get('per_page'));
      const link = linkTo(String(to)).link;
      response.writeHead(200, to < rows.length ? { link } : {});
      response.end(JSON.stringify(rows.slice(from, to)));
    });
    const { tracker } = createParts({ apiUrl: server.url });
    const numbers = (await walk(tracker, newest)).map((issue) => issue.number);
    expect(numbers).toEqual(rows.map((row) => row.number));
    expect(server.requests).toHaveLength(15);
  });
});

describe('a list that cannot be had', () => {
  const html = { 'content-type': 'text/html' };
  test.each([
    ['truncated', '[{"number": 1,', {}],
    ['HTML', '<html>private words</html>', html],
    ['empty', '', {}],
    ['a string', '"x"', {}],
    ['an object', '{"message":"ok"}', {}],
    ['one bad row', JSON.stringify([wireIssue, { number: 'x' }]), {}],
    ['more rows than asked', JSON.stringify(Array.from({ length: 101 }, () => wireIssue)), {}],
  ])('is tracker-failed when the success is %s', async (_, body, headers) => {
    nock(API).get(ISSUES).query(true).reply(200, body, headers);
    const { tracker } = createParts();
    const error: unknown = await tracker.listIssues(newest).catch((error: unknown) => error);
    expect(error).toMatchObject(isFailed);
    expect(everythingIn(error)).not.toContain('private words');
  });

  test.each([
    ['401', 401, {}],
    ['403 of an archived repository', 403, { 'x-ratelimit-remaining': '4000' }],
    ['404: hidden or gone', 404, {}],
    ['422', 422, {}],
    ['451', 451, {}],
    ['500', 500, {}],
    ['301: the repository was renamed', 301, { location: `${API}/repositories/4711/issues` }],
    ['302 to another host', 302, { location: 'https://evil.test/' }],
  ])('is tracker-unavailable on %s', async (_, status, headers) => {
    nock(API).get(ISSUES).query(true).reply(status, { message: 'private words' }, headers);
    const { tracker } = createParts();
    const error: unknown = await tracker.listIssues(newest).catch((error: unknown) => error);
    expect(error).toMatchObject({ ...isUnavailable, retryAfterSeconds: undefined });
    expect(everythingIn(error)).not.toContain('private words');
  });

  test.each([
    ['issues are disabled', 200, { ...wireRepository, has_issues: false }, 'issues-disabled'],
    ['the API’s version is retired', 410, {}, 'version-retired'],
  ])('is tracker-unavailable on 410, since %s', async (_, status, body, kind) => {
    nock(API).get(ISSUES).query(true).reply(410, {}).get(REPOSITORY).reply(status, body);
    const { tracker } = createParts();
    await expect(tracker.listIssues(newest)).rejects.toMatchObject({
      ...isUnavailable,
      cause: { kind },
    });
  });

  test.each([
    ['HTML', '<html>private words</html>', html],
    ['JSON', '{"message":"private words"}', { 'retry-after': '30' }],
  ])('is tracker-unavailable on 503 with %s', async (kind, body, headers) => {
    nock(API)
      .get(ISSUES)
      .query(true)
      .times(kind === 'HTML' ? 2 : 1)
      .reply(503, body, headers);
    const { tracker } = createParts();
    const error: unknown = await tracker.listIssues(newest).catch((error: unknown) => error);
    expect(error).toMatchObject({
      ...isUnavailable,
      retryAfterSeconds: kind === 'HTML' ? undefined : 30,
    });
    expect(everythingIn(error)).not.toContain('private words');
  });

  test('is tracker-unavailable while a limit is in force, without a call', async () => {
    nock(API).get(ISSUES).query(true).reply(429, {}, { 'retry-after': '20' });
    const { tracker } = createParts();
    const limited = { ...isUnavailable, retryAfterSeconds: 20 };
    await expect(tracker.listIssues(newest)).rejects.toMatchObject(limited);
    await expect(tracker.readIssue(7)).rejects.toMatchObject(limited);
  });

  test('is tracker-unavailable when nothing answers', async () => {
    const { tracker } = createParts({ apiUrl: `http://127.0.0.1:${await freePort()}` });
    await expect(tracker.listIssues(newest)).rejects.toMatchObject(isUnavailable);
  });
});

describe('reading one issue', () => {
  const ISSUE = `${ISSUES}/7`;

  test('answers it with its tag, and unchanged on a 304', async () => {
    nock(API)
      .get(ISSUE)
      .reply(200, wireIssue, { etag: '"one"' })
      .get(ISSUE)
      .matchHeader('if-none-match', '"one"')
      .reply(304);
    const { tracker } = createParts();
    await expect(tracker.readIssue(7)).resolves.toMatchObject({
      kind: 'changed',
      issue: { number: 7, author: 'ada' },
      validator: '"one"',
    });
    await expect(tracker.readIssue(7, '"one"')).resolves.toEqual({ kind: 'unchanged' });
  });

  test('answers a pull request, marked as such', async () => {
    nock(API)
      .get(ISSUE)
      .reply(200, { ...wireIssue, pull_request: { url: 'x' } });
    const { tracker } = createParts();
    await expect(tracker.readIssue(7)).resolves.toMatchObject({ issue: { isPullRequest: true } });
  });

  test.each([
    ['missing or hidden', 404],
    ['deleted', 410],
    ['moved to another repository', 301],
  ])('is absent when it is %s and the repository is well', async (_, status) => {
    nock(API)
      .get(ISSUE)
      .reply(status, {}, { location: 'https://api.github.com/repositories/9/issues/1' })
      .get(REPOSITORY)
      .reply(200, wireRepository);
    const { tracker } = createParts();
    await expect(tracker.readIssue(7)).resolves.toEqual({
      kind: 'absent',
      isMoved: status === 301,
      isDeleted: status === 410,
    });
  });

  test.each([
    ['hidden', 404, {}],
    ['renamed', 301, {}],
    ['blocked', 451, {}],
    ['unreadable for this credential', 401, {}],
    ['forbidden', 403, {}],
    ['of a retired version of the API', 410, {}],
    ['without issues', 200, { ...wireRepository, has_issues: false }],
  ])('is unknown, never absent, when the repository is %s', async (_, status, body) => {
    nock(API).get(ISSUE).reply(404).get(REPOSITORY).reply(status, body);
    const { tracker } = createParts();
    await expect(tracker.readIssue(7)).rejects.toMatchObject(isUnavailable);
  });

  test('is unknown when the repository answers nonsense', async () => {
    nock(API).get(ISSUE).reply(404).get(REPOSITORY).reply(200, '<html>');
    const { tracker } = createParts();
    await expect(tracker.readIssue(7)).rejects.toMatchObject(isFailed);
  });

  test('asks for the repository once for many absent issues, and again after two seconds', async () => {
    nock(API).get(ISSUE).times(12).reply(404);
    nock(API).get(REPOSITORY).reply(200, wireRepository);
    const { tracker, clock } = createParts();
    await Promise.all(Array.from({ length: 10 }, () => tracker.readIssue(7)));
    await tracker.readIssue(7);
    nock(API).get(REPOSITORY).reply(404);
    await clock.advance(2000);
    await expect(tracker.readIssue(7)).rejects.toMatchObject(isUnavailable);
  });

  test.each([
    ['no issue', {}],
    ['another issue', { ...wireIssue, number: 8 }],
  ])('is tracker-failed when the success is %s', async (_, body) => {
    nock(API).get(ISSUE).reply(200, body);
    const { tracker } = createParts();
    await expect(tracker.readIssue(7)).rejects.toMatchObject(isFailed);
  });
});

async function walk(tracker: LeadTracker, query: IssueQuery): Promise<Issue[]> {
  const issues: Issue[] = [];
  for (let after: string | undefined, isFirst = true; isFirst || after; isFirst = false) {
    const answer = await tracker.listIssues({ ...query, ...(after && { after }) });
    if (answer.kind !== 'changed') throw new Error('no validator was sent');
    issues.push(...answer.page.issues);
    after = answer.page.after;
  }
  return issues;
}
