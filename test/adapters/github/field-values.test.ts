/** Typed fields over REST, in the shapes of GitHub's published description. */
import nock from 'nock';
import { describe, expect, test } from 'vitest';
import { readFields } from '#adapters/github/repository.ts';
import { createIssueEditor } from '#adapters/github/issue-editor.ts';
import { API, createParts, ISSUES, REPOSITORY, watchNock, wireRepository } from './support.ts';

const VALUES = `${ISSUES}/7/issue-field-values`;
const FIELDS = '/orgs/acme/issue-fields';

const wireFields = [
  {
    id: 1,
    node_id: 'IFT_kwDNAd3NAZo',
    name: 'Notes',
    description: 'DRI',
    data_type: 'text',
    created_at: '2024-12-11T14:39:09Z',
    updated_at: '2024-12-11T14:39:09Z',
  },
  {
    id: 2,
    node_id: 'IFSS_kwDNAd3NAZs',
    name: 'Region',
    description: null,
    data_type: 'single_select',
    visibility: 'all',
    options: [
      { id: 1, name: 'EMEA', color: 'red', description: null, priority: 1 },
      { id: 2, name: 'APAC', color: null },
    ],
  },
];

const wireValue = {
  issue_field_id: 2,
  issue_field_name: 'Region',
  node_id: 'IFSSV_1',
  data_type: 'single_select',
  value: 1,
  single_select_option: { id: 1, name: 'EMEA', color: 'red' },
};

const basic = (message: string) => ({ message, documentation_url: 'https://docs.github.com/rest' });

watchNock();

function setUp() {
  const parts = createParts();
  const { client, repository, clock } = parts;
  const editor = createIssueEditor({ client, repository, clock, adminClient: () => undefined });
  return { ...parts, editor };
}

const region = { name: 'region', value: 'EMEA' };

describe('the fields of an organization', () => {
  test('have names, kinds and options', async () => {
    nock(API).get(FIELDS).reply(200, wireFields);
    expect(await readFields(setUp())).toEqual([
      { id: 1, name: 'Notes', kind: 'text', options: [] },
      { id: 2, name: 'Region', kind: 'single_select', options: ['EMEA', 'APAC'] },
    ]);
  });

  test.each([
    [404, basic('Not Found')],
    [403, basic('Resource not accessible by personal access token')],
  ])('are not known where the response is %i', async (status, body) => {
    nock(API).get(FIELDS).reply(status, body);
    expect(await readFields(setUp())).toBeUndefined();
  });

  test.each([
    [500, 'server'],
    [401, 'unauthorized'],
  ])('cannot be told where it is %i', async (status, kind) => {
    nock(API).get(FIELDS).reply(status, basic('x'));
    await expect(readFields(setUp())).rejects.toMatchObject({ kind });
  });
});

describe('setting fields', () => {
  test('sends number and value, and tells what the issue has then', async () => {
    const { editor } = setUp();
    nock(API).get(FIELDS).reply(200, wireFields);
    nock(API)
      .post(VALUES, { issue_field_values: [{ field_id: 2, value: 'EMEA' }] })
      .reply(200, [wireValue]);
    expect(await editor.setFields(7, [region], [])).toEqual({
      kind: 'done',
      fieldValues: [{ id: 2, name: 'Region', kind: 'single_select', value: 'EMEA' }],
    });
  });

  test('asks for the fields once a minute, and not for one that the issue has', async () => {
    const { editor, clock } = setUp();
    nock(API).get(FIELDS).reply(200, wireFields);
    nock(API).post(VALUES).times(4).reply(200, [wireValue]);
    const own = { id: 2, name: 'Region', kind: 'single_select', value: 'APAC' };
    await editor.setFields(7, [region], [own]);
    await editor.setFields(7, [region], []);
    await editor.setFields(7, [region], []);
    await clock.advance(61_000);
    nock(API).get(FIELDS).reply(200, wireFields);
    await editor.setFields(7, [region], []);
    await expect(editor.setFields(7, [{ name: 'Nothing', value: 'x' }], [])).resolves.toEqual({
      kind: 'invalid',
      code: 'field-unknown',
    });
  });

  test.each([
    [422, { kind: 'invalid', code: 'refused' }],
    [503, { kind: 'transient', code: 'tracker-server' }],
  ])('that gets %i', async (status, refusal) => {
    const { editor } = setUp();
    nock(API).get(FIELDS).reply(200, wireFields);
    nock(API).post(VALUES).reply(status, basic('x'));
    await expect(editor.setFields(7, [region], [])).resolves.toEqual(refusal);
  });
});

describe('clearing a field', () => {
  test('is done by 204', async () => {
    nock(API).delete(`${VALUES}/1`).reply(204);
    await expect(setUp().editor.clearField(7, 1)).resolves.toEqual({ kind: 'done' });
  });

  test.each([
    [403, { kind: 'forbidden' }],
    [404, { kind: 'gone', isDeleted: false }],
    [410, { kind: 'gone', isDeleted: true }],
    [301, { kind: 'transferred' }],
  ])('that gets %i where the repository is well', async (status, refusal) => {
    nock(API).delete(`${VALUES}/1`).reply(status, basic('x'));
    nock(API).get(REPOSITORY).reply(200, wireRepository);
    await expect(setUp().editor.clearField(7, 1)).resolves.toEqual(refusal);
  });
});
