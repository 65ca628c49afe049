import {
  check,
  checks,
  input,
  select,
  textArea,
  actionButton,
  button,
  chips,
  filters,
  postForm,
  wide,
} from '#portal/shell/forms.ts';
import { expect, test } from 'vitest';
import { flat, person } from './support.ts';

test('a field is tied to its label, its note and its error', () => {
  const text = input({
    name: 'name',
    label: 'Name',
    note: 'n',
    error: 'taken',
    value: 'x',
  }).toString();
  expect(text).toContain('<label for="name">Name</label>');
  expect(text).toContain(
    'id="name" name="name" aria-invalid="true" aria-describedby="name-error name-note"',
  );
  expect(text).toContain('<p class="error" id="name-error">taken</p>');
  expect(text).toContain('<p class="note" id="name-note">n</p>');
  expect(input({ name: 'name', label: 'Name' }).toString()).not.toContain('aria-');
});

test('what was typed in several lines stays as it was', () => {
  const text = textArea({ name: 'spec', label: 'Spec', value: '\na: 1\n</textarea>' }).toString();
  expect(text).toMatch(/<textarea[^>]*>\n\na: 1\n&lt;\/textarea&gt;<\/textarea>/);
});

test('what was chosen is chosen', () => {
  const choices = [
    { value: '', label: 'Any' },
    { value: 'DONE', label: 'Done' },
  ];
  const list = select({ name: 'outcome', label: 'Outcome', value: 'DONE', choices }).toString();
  expect(list).toContain('<option value="DONE" selected>Done</option>');
  expect(list).toContain('<option value="">Any</option>');
  const boxes = checks({
    name: 'o',
    label: 'O',
    kind: 'checkbox',
    choices,
    chosen: ['DONE'],
    error: 'e',
  });
  expect(boxes.toString()).toContain('<legend>O</legend>');
  expect(boxes.toString()).toMatch(/value="DONE" checked/);
  expect(boxes.toString()).toContain('aria-describedby="o-error"');
  const came = { typed: { c: '1' }, problems: [{ pointer: '#/c', code: 'c', detail: 'No.' }] };
  const box = check({ name: 'c', label: 'C', value: '1' }, came).toString();
  expect(box).toContain('checked');
  expect(box).toContain('id="c-error">No.');
});

test('a form carries the token of the session and what nobody types', () => {
  const text = postForm(
    { action: '/portal/consumers', person, values: { id: '7' } },
    button('Save'),
  );
  expect(text.toString()).toContain('method="post" action="/portal/consumers" novalidate');
  expect(text.toString()).toContain('name="formToken" value="token-of-the-session"');
  expect(text.toString()).toContain('name="id" value="7"');
  const one = flat(actionButton({ action: '/a', person, text: 'Disable', more: 'Router' }));
  expect(one).toContain('name="formToken" value="token-of-the-session"');
  expect(one).toContain('<button class="btn">Disable<span class="vh">Router</span></button>');
});

test('filters are a GET form without a token', () => {
  const fields = [wide(input({ name: 'q', label: 'Find' }))];
  const text = flat(filters({ action: '/portal/receipts', label: 'Filter receipts', fields }));
  expect(text).toContain('method="get" action="/portal/receipts"');
  expect(text).not.toContain('formToken');
});

test('chips name what they take away; without any there is nothing', () => {
  const text = chips([{ label: 'Done', href: '/portal/receipts' }]).toString();
  expect(text).toContain('<span class="vh">Remove filter: </span>Done');
  expect(chips([]).toString()).toBe('');
});
