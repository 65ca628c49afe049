/** No code that newcomers paste is there unread: a test runs it, or it stands here with the reason why none does. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  type Block,
  blocksOf,
  documents,
  isConfiguration,
  isRequestLines,
  takeBlock,
} from '../support/documents.ts';

/** Blocks that no test runs: document, a text of the block, and why. */
const NOT_RUN: readonly [document: string, text: string, reason: string][] = [
  ['README.md', 'npm ci && npm test', '.ci/run does both'],
  ['docs/how-to/install.md', 'docker build', 'deploy/try-image.sh runs the same without an engine'],
];

/** The calls of `takeBlock` in the tests, as their source has them. */
function takenBlocks(): { document: string; text: string }[] {
  const quoted = String.raw`('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")`;
  const call = new RegExp(String.raw`takeBlock\(\s*${quoted},\s*${quoted},?\s*\)`, 'g');
  const unquote = (source: string): string => source.slice(1, -1).replaceAll(/\\(.)/g, '$1');
  return readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .flatMap((name) => [...readFileSync(`test/${name}`, 'utf8').matchAll(call)])
    .map(([, document = '', text = '']) => ({ document: unquote(document), text: unquote(text) }));
}

const taken = takenBlocks();
const isTaken = ({ document, text }: Block): boolean =>
  taken.some((block) => block.document === document && text.includes(block.text));
const isListed = ({ document, text }: Block): boolean =>
  NOT_RUN.some(([name, part]) => name === document && text.includes(part));

test('every block of code in the README, of the client and in the guides is run by a test, or listed with a reason', () => {
  const blocks = documents.flatMap(blocksOf);
  expect(blocks.length).toBeGreaterThan(40);
  const unread = blocks.filter(
    (block) => !isConfiguration(block) && !isRequestLines(block) && !isTaken(block),
  );
  expect(unread.filter((block) => !isListed(block)).map(({ place }) => place)).toEqual([]);
});

test('what is listed as not run is there, and is run by no test', () => {
  for (const [document, text, reason] of NOT_RUN) {
    expect([reason.length > 0, takeBlock(document, text).length > 0]).toEqual([true, true]);
    const claimed = taken.filter((block) => takeBlock(document, text).includes(block.text));
    expect(claimed.filter((block) => block.document === document)).toEqual([]);
  }
});
