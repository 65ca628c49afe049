import { describe, expect, test } from 'vitest';

import { createFakeClock } from '../support/clock.ts';
import { openTracker, REPO, send } from './support.ts';

describe('issues that left', () => {
  test('deleted: 410 for readers, 404 where it is hidden', async () => {
    const tracker = await openTracker();
    for (const title of ['A', 'B']) tracker.createIssue({ title });
    tracker.deleteIssue(1);
    tracker.deleteIssue(2, { hidden: true });
    expect((await send(tracker, `GET ${REPO}/issues/1`)).status).toBe(410);
    expect((await send(tracker, `PATCH ${REPO}/issues/1`, { body: {} })).status).toBe(410);
    expect((await send(tracker, `GET ${REPO}/issues/2`)).status).toBe(404);
    expect((await send(tracker, `GET ${REPO}/issues?state=all`)).data).toEqual([]);
  });

  test('transferred: 301 on GET and 307 on PATCH, to an issue with other ids that is there', async () => {
    const tracker = await openTracker();
    const { id } = tracker.createIssue({ title: 'A', labels: ['approved'] });
    tracker.transferIssue(1, 'acme/archive');
    const moved = await send(tracker, `GET ${REPO}/issues/1`);
    expect(moved).toMatchObject({ status: 301, data: { message: 'Moved Permanently' } });
    const location = moved.headers.get('location') ?? '';
    expect(location).toMatch(/\/repositories\/\d+\/issues\/1$/);
    const headers = { authorization: 'Bearer read-token' };
    const followed = (await (await fetch(location, { headers })).json()) as { id: number };
    expect(followed).toMatchObject({ title: 'A', labels: [{ name: 'approved' }] });
    expect(followed.id).not.toBe(id);
    const patched = await send(tracker, `PATCH ${REPO}/issues/1`, { body: { state: 'closed' } });
    expect(patched.status).toBe(307);
    expect(tracker.readIssue(1, 'acme/archive')?.state).toBe('open');
  });
});

describe('the repository', () => {
  test('renamed: the old name redirects with path and query, the numeric id always answers', async () => {
    const tracker = await openTracker();
    tracker.createIssue({ title: 'A' });
    const { data } = await send(tracker, `GET ${REPO}`);
    const { id } = data as { id: number };
    tracker.renameRepository('prospects');
    const moved = await send(tracker, `GET ${REPO}/issues?state=all`);
    expect(moved.status).toBe(301);
    expect(moved.headers.get('location')).toBe(
      `${tracker.url}/repositories/${id}/issues?state=all`,
    );
    const patched = await send(tracker, `PATCH ${REPO}/issues/1`, { body: { state: 'closed' } });
    expect(patched.status).toBe(307);
    expect(tracker.readIssue(1)?.state).toBe('open');
    expect((await send(tracker, `GET /repositories/${id}/issues/1`)).status).toBe(200);
    expect((await send(tracker, 'GET /repos/Acme/Prospects')).data).toMatchObject({
      id,
      full_name: 'acme/prospects',
    });
  });

  test('issues switched off: 410, and has_issues says so', async () => {
    const tracker = await openTracker();
    tracker.createIssue({ title: 'A' });
    tracker.disableIssues();
    expect((await send(tracker, `GET ${REPO}/issues`)).status).toBe(410);
    expect((await send(tracker, `GET ${REPO}/issues/1`)).status).toBe(410);
    expect((await send(tracker, `GET ${REPO}`)).data).toMatchObject({ has_issues: false });
  });

  test('archived: reads go on, writes are 403', async () => {
    const tracker = await openTracker();
    tracker.createIssue({ title: 'A' });
    tracker.editRepository({ isArchived: true });
    expect((await send(tracker, `GET ${REPO}/issues/1`)).status).toBe(200);
    expect(
      (await send(tracker, `PATCH ${REPO}/issues/1`, { body: { state: 'closed' } })).status,
    ).toBe(403);
  });

  test('says what each credential may do', async () => {
    const tracker = await openTracker();
    const rightsOf = async (token: string) =>
      (await send(tracker, `GET ${REPO}`, { token })).data as { permissions: object };
    expect((await rightsOf('read-token')).permissions).toMatchObject({ push: false, admin: false });
    expect((await rightsOf('write-token')).permissions).toMatchObject({ push: true, admin: false });
    expect((await rightsOf('admin-token')).permissions).toMatchObject({ push: true, admin: true });
  });
});

describe('credentials', () => {
  test('a bad token is 401, a private repository out of scope 404', async () => {
    const tracker = await openTracker();
    expect((await send(tracker, `GET ${REPO}`, { token: 'wrong' })).status).toBe(401);
    expect((await send(tracker, `GET ${REPO}`, { token: 'none-token' })).status).toBe(404);
    expect((await send(tracker, `GET ${REPO}`, { token: null })).status).toBe(404);
    expect((await send(tracker, 'GET /user', { token: null })).status).toBe(401);
    expect((await send(tracker, 'GET /user', { token: 'read-token' })).data).toMatchObject({
      login: 'reader',
    });
  });

  test('a public repository can be read without any', async () => {
    const tracker = await openTracker();
    tracker.editRepository({ isPrivate: false });
    const { status, headers } = await send(tracker, `GET ${REPO}/issues`, { token: null });
    expect(status).toBe(200);
    expect(headers.get('x-ratelimit-limit')).toBe('60');
  });
});

test('an unknown API version is 400, a trailing slash and an unknown path 404', async () => {
  const tracker = await openTracker();
  const headers = { 'x-github-api-version': '1999-01-01' };
  expect((await send(tracker, `GET ${REPO}`, { headers })).status).toBe(400);
  expect((await send(tracker, `GET ${REPO}/`)).status).toBe(404);
  expect((await send(tracker, 'GET /nothing')).status).toBe(404);
});

test('a lagging replica shows a write only after the lag', async () => {
  const clock = createFakeClock();
  const tracker = await openTracker({ clock, replicaLagMs: 3000 });
  tracker.createIssue({ title: 'A' });
  expect((await send(tracker, `GET ${REPO}/issues/1`)).status).toBe(404);
  await clock.advance(3000);
  expect((await send(tracker, `GET ${REPO}/issues/1`)).status).toBe(200);
  const patched = await send(tracker, `PATCH ${REPO}/issues/1`, { body: { state: 'closed' } });
  expect(patched.data).toMatchObject({ state: 'closed' });
  expect((await send(tracker, `GET ${REPO}/issues/1`)).data).toMatchObject({ state: 'open' });
  await clock.advance(3000);
  expect((await send(tracker, `GET ${REPO}/issues`)).data).toEqual([]);
});
