import { randomBytes, randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import { systemCodeOf, TrackportError } from '#shared/errors.ts';

import type { Config } from './schema/schema.ts';

const KEY_BYTES = 32;

/** Where the key is stored that is made when the configuration has none. */
export function secretKeyPath(databasePath: string): string {
  return `${databasePath}.key`;
}

/**
 * The bytes of `secretKey`; without one, those of the file beside the SQLite database, which is
 * made (mode 0600) when it is missing. Two processes that start together end up with the same one.
 * @throws {store-unavailable} when the file can be neither read nor made, or is no key
 */
export function resolveSecretKey(config: Pick<Config, 'secretKey' | 'store'>): Buffer {
  if (config.secretKey) return Buffer.from(config.secretKey.reveal(), 'base64');
  if (config.store.url.engine !== 'sqlite') throw new TypeError('secretKey is required');
  const path = secretKeyPath(config.store.url.path);
  try {
    return readKey(path) ?? makeKey(path);
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
    ...(cause !== undefined && { cause }),
  });
}
