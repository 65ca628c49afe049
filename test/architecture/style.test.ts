/** Rules of the house that no rule of oxlint can hold. The budgets of functions and files are in `oxlint.config.ts`. */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const FILES_MAX = 15;
const files = globSync('{src,sandbox}/**/*.ts');

/** Lines that a rule refuses, with their places. */
function refused(rule: RegExp, within: readonly string[]): string[] {
  return within.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line, index) => (rule.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [])),
  );
}

/** A type that carries what others need is no thing: functions name what they take. */
const BAG =
  /^\s*(?:export )?(?:type|interface) \w*(?:Deps|Parts|Ports|Facts|Given|Services|Setup)\b\s*(?:[=<{]|extends)/;

/** Comments begin with the noun or the verb. */
const COMMENT = /^\s*(?:\/\*\*|\*|\/\/) (?:What|Who|That|Whether|Where|When|How) /;

test('no folder has more files than a reader takes in at a glance', () => {
  const folders = Map.groupBy(files, (file) => path.dirname(file));
  const crowded = [...folders].filter(([, own]) => own.length > FILES_MAX);
  expect(crowded.map(([folder, own]) => `${folder}: ${own.length}`)).toEqual([]);
});

test('no type is a bag', () => {
  expect(refused(BAG, globSync('src/**/*.ts'))).toEqual([]);
});

test('comments begin with the noun or the verb', () => {
  const commented = globSync('{src,sandbox,client/src,test}/**/*.ts');
  expect(refused(COMMENT, commented)).toEqual([]);
});

test.each([
  [BAG, 'type WorkerDeps = {', true],
  [BAG, 'export interface Services {', true],
  [BAG, 'interface PageParts extends Page {', true],
  [BAG, 'type IssueFacts = Issue & { comments?: number };', true],
  [BAG, 'type Given<T> = { value: T };', true],
  [BAG, 'export type AppSetup = ServerOptions & UseCases;', true],
  [BAG, 'export type Factsheet = string;', false],
  [BAG, '  type DoctorServices,', false],
  [COMMENT, '/** What a reader may see. */', true],
  [COMMENT, '  // Where it fails nothing is known.', true],
  [COMMENT, ' * Whether it is ours.', true],
  [COMMENT, '/** Whatever a reader may see. */', false],
  [COMMENT, 'const text = "What comes";', false],
])('%o on %j: %s', (rule, line, isRefused) => {
  expect(rule.test(line)).toBe(isRefused);
});
