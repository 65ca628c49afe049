/** Closing with a reason, and what the tracker says when it takes none. */
import nock from 'nock';
import { expect, test } from 'vitest';
import { createIssueEditor } from '#adapters/github/issue-editor.ts';
import { API, createParts, ISSUES, ownIssue, watchNock, wireIssue } from './support.ts';

const EDIT = { labels: ['eu'], close: 'not_planned' } as const;

watchNock();

function createEditor() {
  const { client, repository, clock } = createParts();
  return createIssueEditor({ client, adminClient: () => undefined, repository, clock });
}

const invalid = (...errors: unknown[]) => ({ message: 'Validation Failed', errors });

test.each([
  [
    'as a field',
    invalid({ resource: 'Issue', field: 'state_reason', code: 'invalid', value: 'x' }),
  ],
  ['beside another', invalid('labels', { field: 'labels' }, { field: 'state_reason' })],
  ['as a key', { message: 'Invalid request.\n\n"state_reason" is not a permitted key.' }],
  [
    'as a property',
    {
      message: 'Invalid request.\n\nFor \'properties/state_reason\', "x" is not a possible value.',
    },
  ],
])('a refusal that names the reason %s asks for an edit without it', async (_how, refusal) => {
  nock(API)
    .patch(`${ISSUES}/7`, { labels: ['eu'], state: 'closed', state_reason: 'not_planned' })
    .reply(422, refusal);
  await expect(createEditor().edit(7, EDIT)).resolves.toEqual({ kind: 'reason-refused' });
});

test.each([
  ['names another field', invalid({ resource: 'Issue', field: 'assignees', code: 'invalid' })],
  ['only repeats the word', invalid({ field: 'title', value: 'state_reason' })],
  ['names nothing', {}],
  ['is not what was agreed', { message: 7, errors: { field: 'state_reason' } }],
  ['is a page', '<h1>"state_reason"</h1>'],
])('a refusal that %s is final, and nothing is sent again', async (_how, refusal) => {
  nock(API).patch(`${ISSUES}/7`).reply(422, refusal);
  await expect(createEditor().edit(7, EDIT)).resolves.toEqual({ kind: 'invalid', code: 'refused' });
});

test('a reason that was not sent is not refused', async () => {
  nock(API)
    .patch(`${ISSUES}/7`)
    .reply(422, invalid({ field: 'state_reason' }));
  await expect(createEditor().edit(7, { labels: ['eu'] })).resolves.toEqual({
    kind: 'invalid',
    code: 'refused',
  });
});

test('without a reason an issue is closed by its state alone', async () => {
  nock(API)
    .patch(`${ISSUES}/7`, { state: 'closed' })
    .reply(200, { ...wireIssue, state: 'closed' });
  const { title } = ownIssue;
  await expect(createEditor().edit(7, { close: 'without-reason' })).resolves.toMatchObject({
    kind: 'done',
    issue: { title, state: 'closed' },
  });
});
