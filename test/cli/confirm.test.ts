import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { askLine } from '#cli/confirm.ts';

/** What a question is answered with when `typed` is the whole input, and what the person saw. */
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
