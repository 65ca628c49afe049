import { type Column, pager, table } from '#portal/shell/list.ts';
import { expect, test } from 'vitest';
import { flat } from './support.ts';

type Row = { name: string; keys?: number };

const columns: Column<Row>[] = [
  ['Name', ({ name }: Row) => name],
  ['Keys', ({ keys }: Row) => keys, 'number'],
  ['Actions', () => 'Open', 'acts'],
];

test('the first cell names its row, every other one carries its column', () => {
  const text = table({
    caption: 'Consumers by name',
    columns,
    rows: [{ name: 'Router', keys: 1 }],
  });
  const line = flat(text);
  expect(line).toContain('<caption class="vh">Consumers by name</caption>');
  expect(line).toContain('<th role="rowheader" scope="row">Router</th>');
  expect(line).toContain('<td role="cell" class="r" data-l="Keys"><div>1</div></td>');
  expect(line).toContain('<td role="cell" class="acts">Open</td>');
  expect(line).toContain('<span class="vh">Actions</span>');
});

test('a cell without a value is empty, so that a narrow box leaves it out', () => {
  const text = table({ caption: 'c', columns, rows: [{ name: 'Router' }] }).toString();
  expect(text).toContain('data-l="Keys"></td>');
});

test('the pager offers only where one can go', () => {
  const first = pager({ summary: '10 here', older: '/portal/receipts?cursor=a' }).toString();
  expect(first).toContain('>Older</a>');
  expect(first).not.toContain('Newest');
  const last = pager({ summary: '3 here', newest: '/portal/receipts' }).toString();
  expect(last).toContain('>Newest</a>');
  expect(last).not.toContain('Older');
});
