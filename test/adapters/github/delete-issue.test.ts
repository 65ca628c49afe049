/** Deleting an issue over GraphQL, which responds with 200 whatever comes of it. */
import nock from 'nock';
import { expect, test } from 'vitest';
import { createIssueEditor } from '#adapters/github/issue-editor.ts';
import { API, createParts, watchNock } from './support.ts';

watchNock();

test.each([
  [{ data: { deleteIssue: { clientMutationId: null } } }, { kind: 'done' }],
  [
    { data: null, errors: [{ message: 'Something went wrong while executing your query.' }] },
    { kind: 'transient', code: 'tracker-server' },
  ],
  [
    { data: null, errors: [{ type: 'FORBIDDEN', message: 'Not accessible' }] },
    { kind: 'impossible', isCertain: true },
  ],
])('a deletion of an issue that gets %j', async (body, result) => {
  const { client, repository, clock } = createParts();
  const editor = createIssueEditor({ client, repository, clock, adminClient: () => client });
  nock(API).post('/graphql').reply(200, body);
  expect(await editor.remove('I_1')).toEqual(result);
});
