import {
  doneNotice,
  errorSummary,
  fieldOf,
  notice,
  problemOf,
  remark,
} from '#portal/shell/notice.ts';
import { expect, test } from 'vitest';
import { hostile, isInert } from './support.ts';

const problems = [
  { pointer: '#/name', code: 'taken', detail: 'Another consumer has this name.' },
  { pointer: '#/labels/0', code: 'unknown', detail: 'No such label.' },
  { parameter: 'since', code: 'format', detail: 'Not a date.' },
  { header: 'if-match', code: 'stale', detail: 'Changed meanwhile.' },
];

test('a notice with actions puts them beside its text', () => {
  const text = notice({
    state: 'bad',
    id: 'v',
    heading: '2 wait',
    text: 'why',
    actions: 'See',
  }).toString();
  expect(text).toContain('class="notice act" data-s="bad" aria-labelledby="v"');
  expect(text).toContain('<div class="row">See</div>');
  expect(notice({ state: 'ok', id: 'v', heading: 'Well' }).toString()).not.toContain('act');
});

test('the summary of errors leads to each field', () => {
  const text = errorSummary({
    heading: 'Not created',
    problems,
    labels: { name: 'Name' },
  }).toString();
  expect(text).toContain('role="alert"');
  expect(text).toContain('<a href="#name">Name: Another consumer has this name.</a>');
  expect(text).toContain('<a href="#labels">No such label.</a>');
  expect(text).toContain('<a href="#since">Not a date.</a>');
  expect(text).toContain('<li>Changed meanwhile.</li>');
});

test('a field finds what is wrong with it', () => {
  expect(problemOf(problems, 'name')).toBe('Another consumer has this name.');
  expect(problemOf(problems, 'labels')).toBe('No such label.');
  expect(problemOf(problems, 'label')).toBeUndefined();
  expect(fieldOf({ header: 'if-match', code: 'stale', detail: '' })).toBeUndefined();
});

test.each([
  ['notice', notice({ state: 'ok', id: 'a', heading: hostile, text: hostile, actions: hostile })],
  ['remark', remark('warn', hostile, hostile)],
  ['done', doneNotice(hostile)],
  [
    'summary',
    errorSummary({
      heading: hostile,
      problems: [{ pointer: `#/${hostile}`, code: 'x', detail: hostile }],
    }),
  ],
])('what is put into a %s stays text', (_, html) => {
  expect(isInert(html)).toBe(true);
});
