/** A list of words that matches nothing looks like code without them, so some are planted. */
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

type Report = { diagnostics: { code: string; filename: string }[] };

/** One fault each: as a variable, a parameter, a member and a type. */
const planted = {
  'variable.ts': 'export const answer = 1;\n',
  'parameter.ts': 'export const twice = (kept: number): number => 2 * kept;\n',
  'member.ts': 'export const cache = { asked: 1 };\n',
  'type.ts': 'export type Kept = { at: number };\n',
};
const plain = 'export const response = { cachedAt: 1, requests: 2 };\n';

let folder: string;
let flagged: Set<string>;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'trackport-words-'));
  copyFileSync('oxlint.config.ts', path.join(folder, 'oxlint.config.ts'));
  for (const area of ['src/leads/cache', 'src/adapters/github', 'src/shared']) {
    mkdirSync(path.join(folder, area), { recursive: true });
    for (const [name, text] of Object.entries({ ...planted, 'plain.ts': plain }))
      writeFileSync(path.join(folder, area, name), text);
  }
  const oxlint = path.resolve('node_modules/.bin/oxlint');
  const run = await promisify(execFile)(oxlint, ['--format', 'json', 'src'], {
    cwd: folder,
  }).catch(
    (error: { stdout: string }) => error, // faults make it exit 1
  );
  const { diagnostics } = JSON.parse(run.stdout) as Report;
  const ofWords = diagnostics.filter(({ code }) => code === 'eslint(id-denylist)');
  flagged = new Set(ofWords.map(({ filename }) => filename));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each(['src/leads/cache', 'src/adapters/github', 'src/shared'])(
  'a private word in %s is a fault, a plain one is not',
  (area) => {
    const faulty = Object.keys(planted).map((name) => path.join(area, name));
    expect([...flagged]).toEqual(expect.arrayContaining(faulty));
    expect(flagged).not.toContain(path.join(area, 'plain.ts'));
  },
);
