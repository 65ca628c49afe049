import {
  body,
  card,
  empty,
  facts,
  list,
  pair,
  plainCard,
  row,
  split,
  stack,
  stats,
} from '#portal/shell/card.ts';
import { html } from '#portal/html.ts';
import { expect, test } from 'vitest';
import { hostile, isInert } from './support.ts';

test('a card is named by its heading', () => {
  const text = card({ id: 'keys', heading: 'Keys', aside: 'x' }, body('inside')).toString();
  expect(text).toContain('<section class="card" aria-labelledby="keys">');
  expect(text).toContain('<h2 id="keys">Keys</h2>');
  expect(text).toContain('<div class="body">inside</div>');
  const article = card({ id: 'event-1', heading: 'Event 1', element: 'article' }).toString();
  expect(article).toContain('<article class="card" aria-labelledby="event-1">');
});

test('facts without a value are left out', () => {
  const text = facts(
    [
      ['Owner', 'team'],
      ['Group', undefined],
    ],
    { across: true },
  ).toString();
  expect(text.match(/<dt>/g)).toHaveLength(1);
  expect(text).toContain('class="facts across"');
});

test('a stat is coloured only where it has a state', () => {
  const text = stats([
    { term: 'Open', value: 3, unit: 'min', note: 'n' },
    { term: 'Failed', value: 2, state: 'bad' },
  ]).toString();
  expect(text.match(/data-s/g)).toHaveLength(1);
  expect(text).toContain('<small>min</small>');
});

test('an empty list says what belongs there and what to do next', () => {
  const facts = {
    id: 'none',
    heading: 'No consumer yet',
    text: 'A machine.',
    next: html`<a>Create</a>`,
  };
  expect(empty(facts).toString()).toContain('aria-labelledby="none"');
  expect(empty(facts).toString()).toContain('<a>Create</a>');
  expect(empty(facts, { inCard: true }).toString()).not.toContain('<section');
});

test.each([
  ['card', card({ id: 'a', heading: hostile, aside: hostile }, hostile)],
  ['plain card', plainCard(hostile)],
  ['facts', facts([[hostile, hostile]])],
  ['stats', stats([{ term: hostile, value: hostile, unit: hostile, note: hostile }])],
  ['layouts', split(stack(pair(hostile)), row(hostile))],
  ['list', list(hostile)],
  ['empty', empty({ id: 'a', heading: hostile, text: hostile, next: hostile })],
])('what is put into %s stays text', (_, html) => {
  expect(isInert(html)).toBe(true);
});
