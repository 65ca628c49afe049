import { describe, expect, test } from 'vitest';

import { createFakeClock } from '../../support/clock.ts';
import { problemsOfAnswer } from '../github-description.ts';
import { openTracker, REPO, send } from '../support.ts';

type Labels = { labels: { name: string }[] };

function namesOf(data: Labels | { name: string }[]): string[] {
  return (Array.isArray(data) ? data : data.labels).map(({ name }) => name);
}

test('the oracle objects to an answer that lacks a field', async () => {
  const tracker = await openTracker();
  tracker.createIssue({ title: 'A' });
  const { data } = await send(tracker, `GET ${REPO}/issues/1`);
  const { title: _, ...broken } = data as Record<string, unknown>;
  const request = { method: 'GET', path: `${REPO}/issues/1` };
  expect(problemsOfAnswer(request, 200, data)).toEqual([]);
  expect(problemsOfAnswer(request, 200, broken)).toContain(" must have required property 'title'");
});

describe('one issue', () => {
  test('is complete for every kind of author, assignee and state', async () => {
    const tracker = await openTracker();
    tracker.createIssue({ title: 'Ghost', author: null, body: null });
    tracker.createIssue({ title: 'App', author: 'acme-portal[bot]', assignees: ['ada', 'bo'] });
    tracker.createIssue({ title: 'PR', isPullRequest: true, state: 'closed' });
    expect((await send(tracker, `GET ${REPO}/issues/1`)).data).toMatchObject({
      user: null,
      body: null,
    });
    expect((await send(tracker, `GET ${REPO}/issues/2`)).data).toMatchObject({
      user: { login: 'acme-portal[bot]', type: 'Bot' },
      assignee: { login: 'ada' },
      assignees: [{ login: 'ada' }, { login: 'bo' }],
    });
    expect((await send(tracker, `GET ${REPO}/issues/3`)).data).toMatchObject({
      pull_request: { merged_at: null },
      state_reason: 'completed',
      node_id: expect.stringMatching(/^PR_kwDO/) as string,
    });
  });

  test('the newer API version has no single assignee', async () => {
    const tracker = await openTracker();
    tracker.createIssue({ title: 'A', assignees: ['ada'] });
    const headers = { 'x-github-api-version': '2026-03-10' };
    const response = await fetch(`${tracker.url}${REPO}/issues/1`, {
      headers: { ...headers, authorization: 'Bearer read-token' },
    });
    const issue = (await response.json()) as object;
    expect(issue).not.toHaveProperty('assignee');
    expect(issue).toHaveProperty('assignees');
  });
});

describe('changes', () => {
  test('close, relabel and redact in one PATCH; a PATCH that changes nothing moves no date', async () => {
    const clock = createFakeClock();
    const tracker = await openTracker({ clock });
    tracker.createIssue({ title: 'A', body: 'secret', labels: ['approved'] });
    await clock.advance(5500);
    const body = {
      title: 'Deleted',
      body: 'gone',
      state: 'closed',
      state_reason: 'not_planned',
      labels: ['deleted-by-partner'],
    };
    const first = await send(tracker, `PATCH ${REPO}/issues/1`, { token: 'write-token', body });
    expect(first.data).toMatchObject({
      state: 'closed',
      state_reason: 'not_planned',
      closed_by: { login: 'writer' },
      updated_at: '2026-03-01T12:00:05Z',
      labels: [{ name: 'deleted-by-partner', color: 'ededed' }],
    });
    await clock.advance(5500);
    const second = await send(tracker, `PATCH ${REPO}/issues/1`, { token: 'write-token', body });
    expect(second.data).toEqual(first.data);
  });

  test('closing defaults to completed; reopening says reopened', async () => {
    const tracker = await openTracker();
    tracker.createIssue({ title: 'A' });
    const patch = async (body: object) =>
      (await send(tracker, `PATCH ${REPO}/issues/1`, { body })).data;
    expect(await patch({ state: 'closed' })).toMatchObject({ state_reason: 'completed' });
    expect(await patch({ state: 'open' })).toMatchObject({
      state_reason: 'reopened',
      closed_at: null,
    });
  });

  test.each([
    [{ state: 'open', state_reason: 'completed' }, 'state_reason'],
    [{ state: 'closed', state_reason: 'reopened' }, 'state_reason'],
    [{ state: 'gone' }, 'state'],
    [{ body: 'x'.repeat(65_537) }, 'body'],
    [{ title: ' ' }, 'title'],
    [{ assignees: ['writer', 'reader'] }, 'assignees'],
    [{ assignees: ['nobody'], labels: ['x'] }, 'assignees'],
  ])('an impossible change is 422 (%#)', async (body, field) => {
    const tracker = await openTracker();
    tracker.createIssue({ title: 'A' });
    const { status, data } = await send(tracker, `PATCH ${REPO}/issues/1`, { body });
    expect({ status, data }).toMatchObject({ status: 422, data: { errors: [{ field }] } });
  });

  test('an assignee who may not push is refused when an issue is opened, and one who may is taken', async () => {
    const tracker = await openTracker();
    const open = (login: string) =>
      send(tracker, `POST ${REPO}/issues`, { body: { title: 'A', assignees: [login] } });
    expect(await open('reader')).toMatchObject({
      status: 422,
      data: { errors: [{ value: 'reader', resource: 'Issue', code: 'invalid' }] },
    });
    expect(tracker.readIssue(1)).toBeUndefined();
    expect((await open('Writer')).status).toBe(201);
  });

  test('a renamed or deleted label moves no issue’s date; adding and removing does', async () => {
    const clock = createFakeClock();
    const tracker = await openTracker({ clock });
    const { updatedAt } = tracker.createIssue({ title: 'A', labels: ['approved', 'x'] });
    await clock.advance(2000);
    tracker.renameLabel('approved', 'accepted');
    tracker.deleteLabel('x');
    expect(tracker.readIssue(1)).toMatchObject({ updatedAt, labels: [{ name: 'accepted' }] });
    expect((await send(tracker, `GET ${REPO}/issues?labels=accepted`)).data).toHaveLength(1);
    tracker.relabel(1, { add: ['y'] });
    expect(tracker.readIssue(1)?.updatedAt).toBe(updatedAt + 2000);
  });

  test('without push access label changes are dropped in silence', async () => {
    const tracker = await openTracker();
    tracker.createIssue({ title: 'A', labels: ['approved'] });
    const body = { state: 'closed', labels: [] };
    const { status, data } = await send(tracker, `PATCH ${REPO}/issues/1`, {
      token: 'edit-token',
      body,
    });
    expect(status).toBe(200);
    expect(data).toMatchObject({ state: 'closed', labels: [{ name: 'approved' }] });
  });

  test('a classic token writes within its scopes; beyond them nothing is there', async () => {
    const grant = { token: 'classic', can: 'write' as const, scopes: ['read:user'] };
    const tracker = await openTracker({ tokens: [grant] });
    tracker.createIssue({ title: 'A' });
    const patch = () =>
      send(tracker, `PATCH ${REPO}/issues/1`, { token: 'classic', body: { state: 'closed' } });
    const read = () => send(tracker, `GET ${REPO}`, { token: 'classic' });
    expect([(await read()).status, (await patch()).status]).toEqual([404, 404]);
    tracker.editRepository({ isPrivate: false });
    const { status, headers, data } = await read();
    expect([status, (await patch()).status]).toEqual([200, 404]);
    expect(headers.get('x-oauth-scopes')).toBe('read:user');
    expect(data).toMatchObject({ permissions: { push: true } }); // of the user, not of the token
    grant.scopes.push('public_repo');
    expect((await patch()).status).toBe(200);
  });

  test('who may not push cannot comment on a locked issue', async () => {
    const tracker = await openTracker();
    tracker.createIssue({ title: 'A' });
    await send(tracker, `PUT ${REPO}/issues/1/lock`);
    const comment = (token: string) =>
      send(tracker, `POST ${REPO}/issues/1/comments`, { token, body: { body: 'text' } });
    expect((await comment('edit-token')).status).toBe(403);
    expect((await comment('write-token')).status).toBe(201);
  });

  test('who may not write is refused with the permission that it takes', async () => {
    const tracker = await openTracker();
    tracker.createIssue({ title: 'A' });
    const refused = await send(tracker, `PATCH ${REPO}/issues/1`, {
      token: 'read-token',
      body: {},
    });
    expect(refused.status).toBe(403);
    expect(refused.headers.get('x-accepted-github-permissions')).toContain('issues=write');
  });
});

describe('labels of an issue', () => {
  test('POST adds and makes missing ones, PUT replaces, DELETE takes off', async () => {
    const tracker = await openTracker();
    tracker.createIssue({ title: 'A', labels: ['Approved'] });
    const labels = `${REPO}/issues/1/labels`;
    const added = await send(tracker, `POST ${labels}`, { body: { labels: ['new', 'approved'] } });
    expect(namesOf(added.data)).toEqual(['Approved', 'new']);
    expect(namesOf((await send(tracker, `POST ${labels}`, { body: ['bare'] })).data)).toContain(
      'bare',
    );
    expect(namesOf((await send(tracker, `DELETE ${labels}/APPROVED`)).data)).toEqual([
      'new',
      'bare',
    ]);
    expect((await send(tracker, `DELETE ${labels}/approved`)).status).toBe(404);
    expect(
      namesOf((await send(tracker, `PUT ${labels}`, { body: { labels: ['z'] } })).data),
    ).toEqual(['z']);
    expect((await send(tracker, `DELETE ${labels}`)).status).toBe(204);
    expect((await send(tracker, `GET ${labels}`)).data).toEqual([]);
  });

  test('names with spaces, slashes and commas survive the address', async () => {
    const tracker = await openTracker();
    tracker.createIssue({ title: 'A', labels: ['priority: high', 'a/b'] });
    const name = encodeURIComponent('priority: high');
    const left = await send(tracker, `DELETE ${REPO}/issues/1/labels/${name}`);
    expect(namesOf(left.data)).toEqual(['a/b']);
    expect((await send(tracker, `DELETE ${REPO}/issues/1/labels/a%2Fb`)).data).toEqual([]);
  });
});

describe('labels of the repository', () => {
  test('a label is not renamed to a name that another has, in any case, by whomever', async () => {
    const tracker = await openTracker();
    tracker.createIssue({ title: 'A', labels: ['Hot', 'cold'] });
    const isRefused = {
      status: 422,
      data: { errors: [{ resource: 'Label', field: 'name', code: 'already_exists' }] },
    };
    const body = { new_name: 'hot' };
    expect(await send(tracker, `PATCH ${REPO}/labels/cold`, { body })).toMatchObject(isRefused);
    const control = await fetch(`${tracker.url}/_control/renameLabel`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(['cold', 'hot']),
    });
    expect({ status: control.status, data: await control.json() }).toMatchObject(isRefused);
    expect(tracker.readIssue(1)?.labels.map(({ name }) => name)).toEqual(['Hot', 'cold']);
    expect(tracker.renameLabel('hot', 'HOT').name).toBe('HOT');
  });

  test('are made once, renamed, and deleted', async () => {
    const tracker = await openTracker();
    const body = { name: 'approved', color: '1a7f37', description: 'ok' };
    expect((await send(tracker, `POST ${REPO}/labels`, { body })).status).toBe(201);
    expect(
      await send(tracker, `POST ${REPO}/labels`, { body: { name: 'APPROVED' } }),
    ).toMatchObject({
      status: 422,
      data: { errors: [{ code: 'already_exists' }] },
    });
    const renamed = await send(tracker, `PATCH ${REPO}/labels/approved`, {
      body: { new_name: 'yes' },
    });
    expect(renamed.data).toMatchObject({ name: 'yes', color: '1a7f37' });
    expect((await send(tracker, `GET ${REPO}/labels`)).data).toMatchObject([{ name: 'yes' }]);
    expect((await send(tracker, `DELETE ${REPO}/labels/yes`)).status).toBe(204);
    expect((await send(tracker, `GET ${REPO}/labels/yes`)).status).toBe(404);
  });
});

test('issues can be assigned to whoever may push', async () => {
  const tracker = await openTracker();
  const statusOf = async (login: string) =>
    (await send(tracker, `GET ${REPO}/assignees/${login}`, { token: 'read-token' })).status;
  expect(await Promise.all(['writer', 'OWNER', 'editor', 'nobody'].map(statusOf))).toEqual([
    204, 204, 404, 404,
  ]);
});

describe('comments', () => {
  test('are written, edited, deleted, and move the issue’s date', async () => {
    const clock = createFakeClock();
    const tracker = await openTracker({ clock });
    const { updatedAt } = tracker.createIssue({ title: 'A' });
    await clock.advance(1000);
    const posted = await send(tracker, `POST ${REPO}/issues/1/comments`, {
      body: { body: 'Hello' },
    });
    expect(posted.status).toBe(201);
    expect(tracker.readIssue(1)).toMatchObject({ updatedAt: updatedAt + 1000 });
    const { id } = posted.data as { id: number };
    const edited = await send(tracker, `PATCH ${REPO}/issues/comments/${id}`, {
      body: { body: 'Bye' },
    });
    expect(edited.data).toMatchObject({ body: 'Bye' });
    expect((await send(tracker, `GET ${REPO}/issues/comments/${id}`)).status).toBe(200);
    expect((await send(tracker, `DELETE ${REPO}/issues/comments/${id}`)).status).toBe(204);
    expect((await send(tracker, `GET ${REPO}/issues/comments/${id}`)).status).toBe(404);
  });

  test('still have page numbers and last in Link', async () => {
    const tracker = await openTracker();
    tracker.createIssue({ title: 'A' });
    for (let count = 0; count < 5; count += 1) tracker.addComment(1, `comment ${count}`);
    const page = await send(tracker, `GET ${REPO}/issues/1/comments?per_page=2&page=2`);
    expect(page.data).toHaveLength(2);
    const relations = [...(page.headers.get('link') ?? '').matchAll(/page=(\d)>; rel="(\w+)"/g)];
    expect(relations.map(([, number, rel]) => `${rel} ${number}`)).toEqual([
      'prev 1',
      'next 3',
      'last 3',
      'first 1',
    ]);
  });
});
