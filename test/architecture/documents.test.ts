import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { blocksOf, documents } from '../e2e/support/documents.ts';
import { shells } from '../support/shells.ts';

const blocks = documents.flatMap(blocksOf);
const commands = blocks.filter(({ language }) => language === 'sh');

test('commands in documents are marked as such', () => {
  expect(commands.length).toBeGreaterThan(5);
  const unmarked = blocks.filter(
    ({ language, text }) => language === '' && /^(?:npm|trackport|curl|node) /m.test(text),
  );
  expect(unmarked.map(({ place }) => place)).toEqual([]);
});

test.each(commands)('$place holds no comment: an interactive zsh knows none', ({ text }) => {
  for (const line of text.split('\n'))
    expect(line.replaceAll(/'[^']*'|"[^"]*"/g, '')).not.toMatch(/(?:^|\s)#/);
});

test.each(commands)('$place is understood by every shell', ({ text }) => {
  for (const [shell = ''] of shells) {
    const { status, stderr } = spawnSync(shell, ['-n'], { input: text, encoding: 'utf8' });
    expect([shell, status, stderr]).toEqual([shell, 0, '']);
  }
});

test('every file that a document names is there', () => {
  const named = documents.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/`([a-z][\w-]*(?:\/[\w-]+)+\.ts)`/g)].map(
      ([, target = '']) => ({ file, target }),
    ),
  );
  expect(named.length).toBeGreaterThan(10);
  const isThere = (target: string): boolean => existsSync(target) || existsSync(`src/${target}`);
  expect(named.filter(({ target }) => !isThere(target))).toEqual([]);
});

test("the tests' map names files that are there, and helpers that can be imported", () => {
  const map = readFileSync('test/README.md', 'utf8');
  const files = [...map.matchAll(/`([\w/.-]+\.ts)`/g)].map(([, name = '']) => name);
  const helpers = [...map.matchAll(/`(\w+)\(\)`/g)].map(([, name = '']) => name);
  expect([files.length > 10, helpers.length > 10]).toEqual([true, true]);
  expect(files.filter((name) => !existsSync(name) && !existsSync(`test/${name}`))).toEqual([]);
  const code = readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => readFileSync(`test/${name}`, 'utf8'))
    .join('\n');
  const isExported = (name: string) =>
    new RegExp(`^export (?:async )?function ${name}\\b`, 'm').test(code);
  expect(helpers.filter((name) => !isExported(name))).toEqual([]);
});
