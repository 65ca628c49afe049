import { randomBytes, randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import { deriveKey, hmacSha256 } from '#shared/crypto/hash.ts';
import { systemCodeOf, TrackportError } from '#shared/errors.ts';

import { ConfigError } from './problems.ts';
import type { Config } from './schema/schema.ts';

const KEY_BYTES = 32;
const FINGERPRINT_BYTES = 16;

type KeyConfig = Pick<Config, 'secretKey' | 'store'>;

/** File of the key that is made when the configuration has none. */
export function secretKeyPath(databasePath: string): string {
  return `${databasePath}.key`;
}

/**
 * The bytes of `secretKey`; without one, those of the file beside the SQLite database, which is
 * made (mode 0600) when it is missing. Two processes that start together end up with the same one.
 * @throws {ConfigError} the file cannot be read, or holds no key @throws {store-unavailable} it cannot be made
 */
export function resolveSecretKey(config: KeyConfig): Buffer {
  return keyOf(config, (path) => readKey(path) ?? makeKey(path));
}

/** The key, where there is one: none is made. @throws {ConfigError} */
export function readSecretKey(config: KeyConfig): Buffer | undefined {
  return keyOf(config, readKey);
}

/** Lets a store know the key that it was filled with. The key cannot be told from it. */
export function fingerprintOf(secretKey: Buffer): Buffer {
  const key = deriveKey(secretKey, 'directory');
  return hmacSha256(key, 'trackport/directory-check').subarray(0, FINGERPRINT_BYTES);
}

/** A store was filled with another key than the one that is there, if any is. */
export function otherKeyError({ secretKey, store: { url } }: KeyConfig, key?: Buffer): ConfigError {
  const path = secretKey || url.engine !== 'sqlite' ? 'secretKey' : secretKeyPath(url.path);
  return keyError(path, key ? 'another key' : 'no file', `if it is lost, ${REKEY}`);
}

const REKEY = '`trackport store rekey` says what is lost with it';

function keyError(path: string, found: string, suggestion: string): ConfigError {
  const allowed = 'the key that the store was filled with';
  return new ConfigError('The configuration', [{ path, found, allowed, suggestion }]);
}

function keyOf<T>({ secretKey, store }: KeyConfig, fromFile: (path: string) => T): Buffer | T {
  if (secretKey) return Buffer.from(secretKey.reveal(), 'base64');
  if (store.url.engine !== 'sqlite') throw new TypeError('secretKey is required');
  return fromFile(secretKeyPath(store.url.path));
}

function readKey(path: string): Buffer | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === 'ENOENT') return undefined;
    const remedy = 'make it readable for this user, or set secretKey to what is in it';
    throw keyError(path, `a file that cannot be read (${code})`, remedy);
  }
  const key = Buffer.from(text.trim(), 'base64');
  if (key.length >= KEY_BYTES) return key;
  throw keyError(
    path,
    'a file that holds no key',
    `if it is lost, move the file away, and ${REKEY}`,
  );
}

/** The file appears whole or not at all: whoever starts at the same time reads all of it. */
function makeKey(path: string): Buffer {
  const key = randomBytes(KEY_BYTES);
  const draft = `${path}.${randomUUID()}`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(draft, `${key.toString('base64')}\n`, { mode: 0o600, flag: 'wx', flush: true });
    linkSync(draft, path);
    return key;
  } catch (error) {
    const winner = systemCodeOf(error) === 'EEXIST' ? readKey(path) : undefined;
    if (winner) return winner;
    throw new TrackportError('store-unavailable', {
      detail: `The secret key ${path} cannot be made, and the configuration sets no secretKey.`,
      cause: error,
    });
  } finally {
    rmSync(draft, { force: true });
  }
}
