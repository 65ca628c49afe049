/** Every configuration that a document shows is taken, and every command of ours exists with its options. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { loadConfig } from '#config/load.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { blocksOf, documents, isConfiguration } from '../support/documents.ts';
import { runHere } from '../support/command.ts';
import { rsaKeys } from '../../support/rsa-keys.ts';

const blocks = documents.flatMap(blocksOf);

/** Keys that a fragment of a configuration leaves to the reader. */
const REST = {
  tracker: { repository: 'acme/leads', auth: { token: 't' } },
  identity: { issuer: 'https://id.example.com', audience: 'trackport' },
};

const { privateKey: PRIVATE_KEY } = rsaKeys();

test.each(blocks.filter(isConfiguration))('$place is taken as a configuration', ({ text }) => {
  const folder = temporaryFolder();
  const known = (parse(text) ?? {}) as Record<string, object>;
  const rest = Object.fromEntries(
    Object.entries(REST).map(([key, value]) => [key, { ...value, ...known[key] }]),
  );
  const key = path.join(folder, 'key.pem');
  writeFileSync(key, PRIVATE_KEY);
  const whole = stringify({ ...known, ...rest }).replaceAll(/\$\{file:[^}]*\}/g, `\${file:${key}}`);
  const file = path.join(folder, 'trackport.yaml');
  writeFileSync(file, whole);
  const names = [...whole.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name);
  const secret = Buffer.alloc(32, 7).toString('base64');
  const environment = Object.fromEntries(names.map((name) => [name, secret]));
  expect(() => loadConfig({ file, environment })).not.toThrow();
});

/** `npm run -s trackport -- WORDS` and `trackport WORDS`, as each line of a block begins. */
const calls = blocks
  .filter(({ language }) => ['sh', 'bash'].includes(language))
  .flatMap(({ place, text }) =>
    [...text.matchAll(/^(?:npm run -s trackport -- |trackport )(.+)$/gm)].map(([, line = '']) => ({
      place,
      words: line.replaceAll(/'[^']*'|"[^"]*"/g, 'TEXT').split(/\s+/),
    })),
  );

const helps = new Map<string, Promise<string>>();

/** The help of the command that the words begin with. */
async function helpOf(words: readonly string[]): Promise<string> {
  const names = words.filter((word) => /^[a-z][a-z-]*$/.test(word));
  const top = await once(names.slice(0, 1));
  const [, second = ''] = names;
  return new RegExp(`^ {2}${second}\\b`, 'm').test(top) && second !== ''
    ? once(names.slice(0, 2))
    : top;
}

function once(names: readonly string[]): Promise<string> {
  const key = names.join(' ');
  const help = helps.get(key) ?? runHere([...names, '--help']).then(({ stdout }) => stdout);
  helps.set(key, help);
  return help;
}

test(
  'every command of ours in a document exists, with its options',
  { timeout: 180_000 },
  async () => {
    expect(calls.length).toBeGreaterThan(10);
    const unknown: string[] = [];
    for (const { place, words } of calls) {
      const help = await helpOf(words);
      if (!help.startsWith('Usage:')) unknown.push(`${place}: ${words.join(' ')}`);
      for (const option of words.filter((word) => word.startsWith('--')))
        if (!help.includes(option.split('=', 1)[0] ?? '')) unknown.push(`${place}: ${option}`);
    }
    expect(unknown).toEqual([]);
  },
);
