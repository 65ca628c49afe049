import { describe, expect, test } from 'vitest';

import { issueSchema } from '#adapters/github/issue.ts';
import { wireIssue, ownIssue } from './support.ts';

describe('an issue of the tracker', () => {
  test('becomes ours', () => {
    expect(issueSchema.parse(wireIssue)).toEqual(ownIssue);
  });

  test('has the address where people see it, when the tracker tells one', () => {
    const html_url = 'https://github.com/acme/leads/issues/7';
    expect(issueSchema.parse({ ...wireIssue, html_url }).url).toBe(html_url);
    for (const none of [null, undefined, 7])
      expect(issueSchema.parse({ ...wireIssue, html_url: none })).not.toHaveProperty('url');
  });

  test('may have lost its author', () => {
    expect(issueSchema.parse({ ...wireIssue, user: null }).author).toBeUndefined();
  });

  test.each([
    ['null', { ...wireIssue, body: null }],
    ['missing', { ...wireIssue, body: undefined }],
  ])('may have a body that is %s', (_, wire) => {
    expect(issueSchema.parse(wire).body).toBe('');
  });

  test('has labels as texts or objects, some without a name', () => {
    const labels = ['plain', { name: 'object', description: null }, { name: null }, { id: 3 }];
    expect(issueSchema.parse({ ...wireIssue, labels }).labels).toEqual(['plain', 'object']);
  });

  test('has 100 labels at most, each of 255 characters at most', () => {
    const longest = '🏷'.repeat(255);
    const labels = [
      'approved',
      { name: 'x'.repeat(300_000) },
      longest,
      `${longest}x`,
      { name: 'eu' },
    ];
    expect(issueSchema.parse({ ...wireIssue, labels }).labels).toEqual(['approved', longest, 'eu']);
    const many = Array.from({ length: 100_000 }, (_, at) => ({ name: `label ${at}` }));
    const read = issueSchema.parse({
      ...wireIssue,
      labels: many,
      assignees: many.map(() => ({ login: 'a' })),
    });
    expect([read.labels.length, read.labels.at(-1)]).toEqual([100, 'label 99']);
    expect(read.assignees).toHaveLength(100);
  });

  test.each([undefined, null, 'approved', { name: 'approved' }])(
    'is none with %j in place of its labels',
    (labels) => {
      expect(issueSchema.safeParse({ ...wireIssue, labels }).success).toBe(false);
    },
  );

  test('is read without looking at the singular assignee', () => {
    const gone = { ...wireIssue, assignees: [null, { login: 'kim' }] };
    expect(issueSchema.parse({ ...gone, assignee: 'whatever' }).assignees).toEqual(['kim']);
    expect(issueSchema.parse({ ...wireIssue, assignees: null }).assignees).toEqual([]);
  });

  test.each([
    ['a name', { id: 1, node_id: 'IT_1', name: 'Bug', description: null }, 'Bug'],
    ['none', null, undefined],
    ['no such thing', undefined, undefined],
    ['what cannot be read', 'Bug', undefined],
    ['a name that none can have', { name: 'x'.repeat(256) }, undefined],
  ])('has a type with %s', (_, type, name) => {
    expect(issueSchema.parse({ ...wireIssue, type }).type).toBe(name);
  });

  test('has values of typed fields, in whatever form the tracker gives them', () => {
    const option = (name: string) => ({ id: 1, name, color: 'red' });
    const of = (kind: string, rest: object) => ({
      issue_field_id: 7,
      issue_field_name: 'A',
      node_id: 'IFV_1',
      data_type: kind,
      ...rest,
    });
    const rows: [object, unknown][] = [
      [of('text', { value: 'soon' }), 'soon'],
      [of('text', { value: 'x'.repeat(65_537) }), ''],
      [of('date', { value: '2026-12-01' }), '2026-12-01'],
      [of('date', { value: '2026-12-01T00:00:00Z' }), '2026-12-01'],
      [of('number', { value: 0 }), 0],
      [of('number', { value: '2.5' }), 2.5],
      [of('single_select', { value: '4', single_select_option: option('EMEA') }), 'EMEA'],
      [of('single_select', { value: 'EMEA', single_select_option: null }), 'EMEA'],
      [of('multi_select', { value: 'A,B', multi_select_options: ['A', 'B'].map(option) }), 'A B'],
      [of('multi_select', { value: null, multi_select_options: null }), ''],
      [of('a kind of next year', { value: 'x' }), 'x'],
    ];
    const { fieldValues = [] } = issueSchema.parse({
      ...wireIssue,
      issue_field_values: rows.map(([wire]) => wire),
    });
    expect(
      fieldValues.map(({ value }) => (Array.isArray(value) ? value.join(' ') : value)),
    ).toEqual(rows.map(([, value]) => value));
    expect(fieldValues[0]).toEqual({ id: 7, name: 'A', kind: 'text', value: 'soon' });
  });

  test('is read whatever its fields are, and tells whether the tracker told any', () => {
    const read = (issue_field_values: unknown) =>
      issueSchema.parse({ ...wireIssue, issue_field_values }).fieldValues;
    expect(read(undefined)).toBeUndefined();
    expect(read(null)).toBeUndefined();
    expect(read('x')).toBeUndefined();
    expect(read([])).toEqual([]);
    expect(read([null, 7, {}, { issue_field_id: 1, value: null }])).toEqual([]);
    expect(read([{ issue_field_id: 1, value: {} }])).toEqual([
      { id: 1, name: '', kind: '', value: '' },
    ]);
    const many = Array.from({ length: 100_000 }, () => ({ issue_field_id: 1 }));
    expect(read(many)).toHaveLength(100);
  });

  test.each([
    ['an object', { url: 'x' }, true],
    ['null', null, false],
    ['missing', undefined, false],
  ])('is a pull request or not: %s', (_, pull_request, isPullRequest) => {
    expect(issueSchema.parse({ ...wireIssue, pull_request }).isPullRequest).toBe(isPullRequest);
  });

  test('keeps offsets apart from local time', () => {
    const wire = { ...wireIssue, updated_at: '2026-02-02T13:30:05+02:00' };
    expect(issueSchema.parse(wire).updatedAt).toBe(Date.parse('2026-02-02T11:30:05Z'));
  });

  test('has ids that no double can hold, which nobody reads', () => {
    const wire = JSON.parse(
      JSON.stringify(wireIssue).replace('1001', '9007199254740993'),
    ) as object;
    expect(JSON.stringify(issueSchema.parse(wire))).toContain('"number":7');
  });

  test.each([
    ['number', 0],
    ['number', '7'],
    ['title', null],
    ['state', 'locked'],
    ['created_at', 'yesterday'],
    ['updated_at', null],
    ['labels', 'approved'],
    ['labels', undefined],
  ])('is not understood when %s is %j', (key, value) => {
    expect(issueSchema.safeParse({ ...wireIssue, [key]: value }).success).toBe(false);
  });
});
