import { describe, expect, test } from 'vitest';
import { readTexts, UnreadableText } from '#partners/import/read-texts.ts';

const BYTES_MAX = 64;

/** In pieces of every size, for a text may end anywhere. */
function opened(content: string | Buffer, pieceBytes: number): () => AsyncIterable<Buffer> {
  const bytes = Buffer.from(content);
  return async function* () {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
  };
}

async function read(content: string | Buffer, pieceBytes = 7): Promise<string[]> {
  const texts: string[] = [];
  for await (const { form, number, bytes } of readTexts(opened(content, pieceBytes), BYTES_MAX))
    texts.push(`${form} ${number} ${bytes.toString()}`);
  return texts;
}

describe.each([1, 2, 3, 7, 1000])('a file that comes in pieces of %d bytes', (pieceBytes) => {
  test.each<[what: string, content: string, texts: string[]]>([
    ['one text a line', '{"a":1}\n{"b":2}\n', ['line 1 {"a":1}', 'line 2 {"b":2}']],
    ['no line break at its end', '{"a":1}\n{"b":2}', ['line 1 {"a":1}', 'line 2 {"b":2}']],
    ['CRLF', '{"a":1}\r\n{"b":2}\r\n', ['line 1 {"a":1}', 'line 2 {"b":2}']],
    ['blank lines, which count', '\n{"a":1}\n \t\r\n\n{}\n\n', ['line 2 {"a":1}', 'line 5 {}']],
    ['a byte order mark', '\uFEFF{"a":1}\n{}', ['line 1 {"a":1}', 'line 2 {}']],
    ['line separators that are none', '"\u2028"\n"\u0085"', ['line 1 "\u2028"', 'line 2 "\u0085"']],
    ['batches', '[{"a":1},{}]\n[]\n{}', ['line 1 [{"a":1},{}]', 'line 2 []', 'line 3 {}']],
    ['an array', '[{"a":1},{"b":2}]', ['element 1 {"a":1}', 'element 2 {"b":2}']],
    [
      'an array over many lines',
      '\uFEFF\r\n[\r\n  {\n"a": 1\n},\n\n  {}\n]\n\n',
      ['element 1 {\n"a": 1\n}', 'element 2 {}'],
    ],
    ['batches in an array', '[[{},{}],[]]', ['element 1 [{},{}]', 'element 2 []']],
    [
      'signs of JSON in texts',
      String.raw`["],[", "a\"]\\", {"}":"[,"}]`,
      [
        String.raw`element 1 "],["`,
        String.raw`element 2 "a\"]\\"`,
        String.raw`element 3 {"}":"[,"}`,
      ],
    ],
    ['an empty array', ' [ ]\n', []],
    ['nothing', '', []],
    ['nothing but blanks', '\uFEFF \n\r\n', []],
    ['what is no JSON', 'a,b\n1,2', ['line 1 a,b', 'line 2 1,2']],
    [
      'nothing between two commas',
      '[1,,2,]',
      ['element 1 1', 'element 2 ', 'element 3 2', 'element 4 '],
    ],
    ['something behind an array', '[1,\n2]\n{}', ['line 1 [1,', 'line 2 2]', 'line 3 {}']],
    ['another array behind one', '[1] [2]', ['line 1 [1] [2]']],
  ])('with %s', async (_what, content, texts) => {
    expect(await read(content, pieceBytes)).toEqual(texts);
  });
});

test.each<[what: string, content: string, message: string]>([
  ['an array without an end', '[{},{"a":"]', 'Element 2 cannot be read. The file ends within it.'],
  ['an array that only begins', '[', 'Element 1 cannot be read. The file ends within it.'],
  ['a line that is too long', `{}\n"${'x'.repeat(80)}"\n{}`, 'Line 2 cannot be read. It is longer'],
  ['an element that is too long', `[{},"${'x'.repeat(80)}"]`, 'Element 2 cannot be read. It is'],
  ['a long line without an end', 'x'.repeat(999), 'Line 1 cannot be read. It is longer'],
])('%s is told by its number', async (_what, content, message) => {
  const error = await read(content).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(UnreadableText);
  expect((error as Error).message).toContain(message);
});

test('a line of many elements of which each is short is an array, and no line that is too long', async () => {
  const elements = Array.from({ length: 100 }, (_, at) => `{"at":${at}}`);
  const texts = await read(`[${elements.join()}]`);
  expect(texts).toEqual(elements.map((element, at) => `element ${at + 1} ${element}`));
});

test('no more of a file is held than one text', async () => {
  let held = 0;
  const lines = async function* () {
    for (let at = 0; at < 1000; at += 1) {
      held += 1;
      yield Buffer.from(`{"at":${at}}\n`);
    }
  };
  let taken = 0;
  for await (const _text of readTexts(() => lines(), BYTES_MAX)) {
    taken += 1;
    // Texts that were looked at to find the form are not counted.
    if (taken === 1) held = 1;
    expect(held).toBe(taken);
  }
  expect(taken).toBe(1000);
});
