import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { askLine, readAll } from '#cli/command.ts';
import { paginationOf } from '#shared/pagination/page.ts';

test('a list is read to its end, page by page and in order', async () => {
  const pages = [['a', 'b'], [], ['c']];
  const cursors: (string | undefined)[] = [];
  const all = await readAll(async ({ cursor }) => {
    cursors.push(cursor);
    const at = Number(cursor ?? 0);
    const next = at + 1 < pages.length ? String(at + 1) : undefined;
    return { items: pages[at] ?? [], pagination: paginationOf(next) };
  });
  expect(all).toEqual(['a', 'b', 'c']);
  expect(cursors).toEqual([undefined, '1', '2']);
});

/** Answer to a question when `typed` is the whole input, and the text that the person saw. */
async function ask(typed: string): Promise<{ answer: string; shown: string }> {
  const input = new PassThrough();
  const output = new PassThrough();
  input.end(typed);
  const answer = await askLine({ input, output }, 'Sure? ');
  output.end();
  return { answer, shown: await text(output) };
}

test.each([
  ['y\n', 'y'],
  ['\n', ''],
  ['no\r\nyes\n', 'no'],
  ['yes', 'yes'],
])('%j is answered %j', async (typed, answer) => {
  expect(await ask(typed)).toEqual({ answer, shown: 'Sure? ' });
});

test('the end of input is an empty answer, and what follows starts on a new line', async () => {
  expect(await ask('')).toEqual({ answer: '', shown: 'Sure? \n' });
});
