/** The `secretKey` of a store: the configured one, or that of the file beside it; and whether the store is of it. */
import { randomBytes, randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { ConfigError } from '#config/problems.ts';
import type { Config } from '#config/schema/schema.ts';
import type { LostReceipt } from '#partners/receipts/receipt.ts';
import { deriveKey, hmacSha256 } from '#shared/crypto/hash.ts';
import type { Statements } from '#shared/database.ts';
import { systemCodeOf, TrackportError } from '#shared/errors.ts';
import { either } from '#shared/sql.ts';

const KEY_BYTES = 32;
const FINGERPRINT_BYTES = 16;

type KeyConfig = Pick<Config, 'secretKey' | 'store'>;

/** Returns the key of a store; a new one takes the configured key. @throws {ConfigError} it was filled with another one */
export async function agreeOnKey(config: KeyConfig, db: Statements): Promise<Buffer> {
  const stored = await readFingerprint(db);
  const key = stored ? readSecretKey(config) : resolveSecretKey(config);
  if (key && !stored) await takeFingerprint(db, fingerprintOf(key));
  if (key && (await isKeyOf(db, key))) return key;
  throw otherKeyError(config, key);
}

/** True while the store is of this key: `store rekey` may have been run on it. */
export async function isKeyOf(db: Statements, secretKey: Buffer): Promise<boolean> {
  return (await readFingerprint(db))?.equals(fingerprintOf(secretKey)) === true;
}

/** By which the store knows the key that it was filled with; undefined: with none yet. */
async function readFingerprint(db: Statements): Promise<Buffer | undefined> {
  const row = await db.get<{ fingerprint: Buffer }>('SELECT fingerprint FROM secret_key');
  return row?.fingerprint;
}

/** Takes the offered one where there is none; of several that are offered at once, one. */
async function takeFingerprint(db: Statements, fingerprint: Buffer): Promise<void> {
  await db.run(
    'INSERT INTO secret_key (one, fingerprint) VALUES (1, @fingerprint) ON CONFLICT DO NOTHING',
    { fingerprint },
  );
}

/** An event that came once more while it was worked is matched anew at its end. */
const UNREAD = `
  SELECT id, partner_id, received_at FROM receipt WHERE number IN (SELECT receipt FROM event
    WHERE outcome = 'PENDING' AND (stage = 'match' OR again > 0)) ORDER BY number`;

/** The directory keeps its rows, which tell what may be shown; the next crawl adds hashes to them. */
const DROP = `
  DELETE FROM session_once; DELETE FROM session;
  DELETE FROM directory_key; DELETE FROM directory_merge; DELETE FROM deletion_name; DELETE FROM same_event;
  UPDATE event SET payload = NULL WHERE payload IS NOT NULL; UPDATE event SET digest = NULL WHERE digest IS NOT NULL;
  UPDATE directory_state SET rules_check = ${either("''", 'zeroblob(0)')};
  DELETE FROM secret_key`;

/**
 * Replaces the key of a stopped store, in the transaction of `db`. Nothing is changed when `onLoss` rejects.
 * @throws {ConfigError} @throws {bad-request}
 */
export async function replaceKey(
  db: Statements,
  config: KeyConfig,
  onLoss: (lost: readonly LostReceipt[]) => Promise<void>,
): Promise<void> {
  const key = readSecretKey(config);
  if (key && (await isKeyOf(db, key)))
    throw new TrackportError('bad-request', { detail: 'The store has this secretKey already.' });
  await onLoss(await db.all(UNREAD));
  const fingerprint = fingerprintOf(key ?? resolveSecretKey(config));
  await db.exec(DROP);
  await takeFingerprint(db, fingerprint);
}

/** Lets a store know the key that it was filled with. The key cannot be told from it. */
export function fingerprintOf(secretKey: Buffer): Buffer {
  const key = deriveKey(secretKey, 'directory');
  return hmacSha256(key, 'trackport/directory-check').subarray(0, FINGERPRINT_BYTES);
}

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
function readSecretKey(config: KeyConfig): Buffer | undefined {
  return keyOf(config, readKey);
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

/** A store was filled with another key than the one that is there, if any is. */
function otherKeyError({ secretKey, store: { url } }: KeyConfig, key?: Buffer): ConfigError {
  const path = secretKey || url.engine !== 'sqlite' ? 'secretKey' : secretKeyPath(url.path);
  return keyError(path, key ? 'another key' : 'no file', `if it is lost, ${REKEY}`);
}
