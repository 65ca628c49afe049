import { Octokit } from '@octokit/rest';
import { expect, test } from 'vitest';

import type { Tracker } from '#sandbox/tracker/tracker-api.ts';

import { openTracker, REPO, send } from '../support.ts';

const DELETE = `mutation($issueId: ID!) {
  deleteIssue(input: { issueId: $issueId, clientMutationId: "m1" }) { clientMutationId repository { nameWithOwner } }
}`;

async function nodeIdOf(tracker: Tracker, number: number): Promise<string> {
  const { data } = await send(tracker, `GET ${REPO}/issues/${number}`);
  return (data as { node_id: string }).node_id;
}

async function ask(
  tracker: Tracker,
  query: string,
  { token = 'admin-token', ...variables }: Record<string, unknown> & { token?: string } = {},
) {
  return (await send(tracker, 'POST /graphql', { token, body: { query, variables } })).data as {
    data?: never;
    errors?: never;
  };
}

test('deleteIssue by an admin user’s token removes the issue for good', async () => {
  const tracker = await openTracker();
  tracker.createIssue({ title: 'A' });
  const issueId = await nodeIdOf(tracker, 1);
  const octokit = new Octokit({ baseUrl: tracker.url, auth: 'admin-token' });
  expect(await octokit.graphql(DELETE, { issueId })).toEqual({
    deleteIssue: { clientMutationId: 'm1', repository: { nameWithOwner: 'acme/leads' } },
  });
  expect((await send(tracker, `GET ${REPO}/issues/1`)).status).toBe(410);
  expect((await ask(tracker, DELETE, { issueId })).errors).toMatchObject([{ type: 'NOT_FOUND' }]);
});

test('without admin rights the status is 200 and the error in errors', async () => {
  const tracker = await openTracker();
  tracker.createIssue({ title: 'A' });
  const issueId = await nodeIdOf(tracker, 1);
  const refused = await ask(tracker, DELETE, { issueId, token: 'write-token' });
  expect(refused).toMatchObject({
    data: { deleteIssue: null },
    errors: [{ type: 'FORBIDDEN', path: ['deleteIssue'] }],
  });
  expect(tracker.readIssue(1)).toBeDefined();
});

test('the old form of node ids is taken too', async () => {
  const tracker = await openTracker();
  const { id } = tracker.createIssue({ title: 'A' });
  const legacy = Buffer.from(`05:Issue${id}`).toString('base64');
  const found = await ask(tracker, `{ node(id: "${legacy}") { ... on Issue { number } } }`);
  expect(found.data).toEqual({ node: { number: 1 } });
});

test('the first edit of a body makes the original a revision; a person can delete its text', async () => {
  const tracker = await openTracker();
  tracker.createIssue({ title: 'A', body: 'personal', author: 'ada' });
  const id = await nodeIdOf(tracker, 1);
  const query = `query($id: ID!) { node(id: $id) { ... on Issue { userContentEdits(first: 10) {
    totalCount nodes { diff editor { login } deletedAt deletedBy { login } } pageInfo { hasNextPage } } } } }`;
  const none = {
    node: { userContentEdits: { totalCount: 0, nodes: [], pageInfo: { hasNextPage: false } } },
  };
  expect((await ask(tracker, query, { id })).data).toEqual(none);
  await send(tracker, `PATCH ${REPO}/issues/1`, { body: { body: 'redacted' } });
  tracker.deleteRevision(1, 0);
  expect((await ask(tracker, query, { id })).data).toMatchObject({
    node: {
      userContentEdits: {
        totalCount: 2,
        nodes: [
          { diff: 'redacted', editor: { login: 'owner' }, deletedAt: null },
          { diff: null, editor: { login: 'ada' }, deletedBy: { login: 'octo-operator' } },
        ],
      },
    },
  });
});

test.each([
  ['{ nothing }', '"nothing"'],
  ['{ viewer }', 'must have a selection'],
  ['{ viewer { login }', 'Syntax Error'],
  ['subscription { x }', 'subscription'],
  ['', 'Syntax Error'],
])('a query that the schema does not know is 200 with errors (%s)', async (query, message) => {
  const tracker = await openTracker();
  const { errors } = await ask(tracker, query);
  expect(errors).toMatchObject([{ message: expect.stringContaining(message) as string }]);
});

test('a bad token is 401, none at all too', async () => {
  const tracker = await openTracker();
  const body = { query: '{ viewer { login } }' };
  expect((await send(tracker, 'POST /graphql', { token: 'wrong', body })).status).toBe(401);
  expect((await send(tracker, 'POST /graphql', { token: null, body })).status).toBe(401);
});
