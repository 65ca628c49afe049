import { statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { resolveSecretKey, secretKeyPath } from '#config/secret-key.ts';
import { Secret } from '#shared/secret.ts';
import { temporaryFolder } from '../support/folder.ts';

let database: string;

beforeEach(() => {
  database = path.join(temporaryFolder(), 'data', 'trackport.db');
});

const storeAt = (file: string) => ({ store: { url: { engine: 'sqlite', path: file } } }) as const;

test('the configured key is taken, and no file is made', () => {
  const key = Buffer.alloc(40, 3);
  const secretKey = new Secret(key.toString('base64'));
  expect(resolveSecretKey({ ...storeAt(database), secretKey })).toEqual(key);
  expect(() => statSync(secretKeyPath(database))).toThrow('ENOENT');
});

test('without one a key is made beside the database, for its owner only, and kept', () => {
  const made = resolveSecretKey(storeAt(database));
  expect(made).toHaveLength(32);
  expect(statSync(secretKeyPath(database)).mode & 0o777).toBe(0o600);
  expect(resolveSecretKey(storeAt(database))).toEqual(made);
});

test('a damaged key is told and never replaced', () => {
  resolveSecretKey(storeAt(database));
  writeFileSync(secretKeyPath(database), 'c2hvcnQ=');
  expect(() => resolveSecretKey(storeAt(database))).toThrow(/it holds no key/);
});

test('a folder that cannot be made is told with what to do', () => {
  writeFileSync(path.dirname(database), 'in the way');
  expect(() => resolveSecretKey(storeAt(database))).toThrow(/set secretKey/);
});
