import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, expect, test } from 'vitest';
import { fingerprintOf, resolveSecretKey, secretKeyPath } from '#compose/secret-key.ts';
import { Secret } from '#shared/crypto/secret.ts';
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

test('processes that start together end up with the same whole key, and nothing else is left', async () => {
  const script = `
    import { resolveSecretKey } from '#compose/secret-key.ts';
    console.log(resolveSecretKey(${JSON.stringify(storeAt(database))}).toString('hex'));`;
  const run = promisify(execFile);
  const args = ['--input-type=module', '--eval', script];
  const made = await Promise.all([1, 2, 3, 4, 5].map(() => run(process.execPath, args)));
  expect(new Set(made.map(({ stdout }) => stdout.trim())).size).toBe(1);
  expect(readdirSync(path.dirname(database))).toEqual([path.basename(secretKeyPath(database))]);
});

test('a key that cannot be made is told', () => {
  mkdirSync(path.dirname(database));
  symlinkSync('away/trackport.db.key', secretKeyPath(database));
  expect(() => resolveSecretKey(storeAt(database))).toThrow(/cannot be made/);
});

test('the fingerprint of a key is what stores of every version before hold', () => {
  const fingerprint = fingerprintOf(Buffer.alloc(32, 7)).toString('hex');
  expect(fingerprint).toBe('46a502ba2e9961e5ffab4258f8efbd3e');
});
