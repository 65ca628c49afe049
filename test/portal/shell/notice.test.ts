import { errorSummary, fieldOf, problemOf } from '#portal/shell/notice.ts';
import { expect, test } from 'vitest';

const problems = [
  { pointer: '#/name', code: 'taken', detail: 'Another consumer has this name.' },
  { pointer: '#/labels/0', code: 'unknown', detail: 'No such label.' },
  { parameter: 'since', code: 'format', detail: 'Not a date.' },
  { header: 'if-match', code: 'stale', detail: 'Changed meanwhile.' },
];

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
