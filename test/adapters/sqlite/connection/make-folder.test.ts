import { chmodSync, existsSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { makeFolder } from '#adapters/sqlite/connection/store-file.ts';
import { temporaryFolder } from '../../../support/folder.ts';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

test('makes a folder with all above it, and leaves one that is there alone', () => {
  const wanted = path.join(folder, 'a', 'b', 'c');
  makeFolder(wanted);
  expect(statSync(wanted).isDirectory()).toBe(true);
  chmodSync(wanted, 0o700);
  makeFolder(wanted);
  expect(statSync(wanted).mode & 0o777).toBe(0o700);
});

test('makes nothing outside of what was named', () => {
  makeFolder(path.join(folder, 'a', '..', 'b'));
  expect(existsSync(path.join(folder, 'b'))).toBe(true);
});

test('throws below a file', () => {
  const file = path.join(folder, 'file');
  writeFileSync(file, '');
  expect(() => makeFolder(path.join(file, 'a', 'b'))).toThrow('ENOTDIR');
});

test.runIf(process.platform === 'linux')('throws where no folder can be made', () => {
  expect(() => makeFolder('/proc/trackport/data')).toThrow('ENOENT');
});
