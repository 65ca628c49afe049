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
 * @throws {store-unavailable} when the file can be neither read nor made, or is no key
 */
export function resolveSecretKey(config: KeyConfig): Buffer {
  return keyOf(config, (path) => readKey(path) ?? makeKey(path));
}

/** The same, but makes none. @throws {store-unavailable} */
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
  const found = key ? 'another key' : 'no file';
  const allowed = 'the key that the store was filled with';
  const suggestion = 'if it is lost, `trackport store rekey` says what is lost with it';
  return new ConfigError('The configuration', [{ path, found, allowed, suggestion }]);
}

function keyOf<T>({ secretKey, store }: KeyConfig, fromFile: (path: string) => T): Buffer | T {
  if (secretKey) return Buffer.from(secretKey.reveal(), 'base64');
  if (store.url.engine !== 'sqlite') throw new TypeError('secretKey is required');
  const path = secretKeyPath(store.url.path);
  try {
    return fromFile(path);
  } catch (error) {
    if (error instanceof TrackportError) throw error;
    throw unusable(path, systemCodeOf(error) ?? 'unknown failure', error);
  }
}

function readKey(path: string): Buffer | undefined {
  try {
    const key = Buffer.from(readFileSync(path, 'utf8').trim(), 'base64');
    if (key.length < KEY_BYTES) throw unusable(path, 'it holds no key');
    return key;
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** The file appears whole or not at all: whoever starts at the same time reads all of it. */
function makeKey(path: string): Buffer {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const key = randomBytes(KEY_BYTES);
  const draft = `${path}.${randomUUID()}`;
  try {
    writeFileSync(draft, `${key.toString('base64')}\n`, { mode: 0o600, flag: 'wx', flush: true });
    linkSync(draft, path);
    return key;
  } catch (error) {
    const winner = systemCodeOf(error) === 'EEXIST' ? readKey(path) : undefined;
    if (winner) return winner;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function unusable(path: string, reason: string, cause?: unknown): TrackportError {
  return new TrackportError('store-unavailable', {
    detail: `The secret key in ${path} cannot be used (${reason}). Make the folder writable, or set secretKey in the configuration.`,
    cause,
  });
}
