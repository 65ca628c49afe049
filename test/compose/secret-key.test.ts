/** A store keeps to the `secretKey` that it was filled with, and takes another one only where that is lost. */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createSessions } from '#access/sessions/sessions.ts';
import { createCertificateSigner, verifyCertificate } from '#adapters/jose/certificates.ts';
import { openDatabase as openPostgres } from '#adapters/postgres/database.ts';
import { openDatabase as openSqlite } from '#adapters/sqlite/database.ts';
import { loadConfig } from '#config/load.ts';
import { ConfigError } from '#config/problems.ts';
import type { Config } from '#config/schema/schema.ts';
import { readDirectoryState, readUpdatedAt } from '#leads/directory/directory-view.ts';
import { adoptRepository, completeCrawl, putCrawled } from '#leads/directory/write-directory.ts';
import { readClaim } from '#leads/claims/claimed-leads.ts';
import { hashIdentity, rulesCheckOf } from '#leads/directory/lead-directory.ts';
import type { Clock } from '#shared/clock.ts';
import { deriveKey } from '#shared/crypto/hash.ts';
import type { Database } from '#shared/database.ts';
import { newUuid } from '#shared/ids.ts';
import { silentLog as log } from '#shared/log.ts';
import type { LostReceipt } from '#partners/receipts/receipt.ts';
import { openServiceStore, openStore, type Store } from '#compose/store.ts';
import { rekeyStore } from '#compose/store-maintenance.ts';
import { createFakeClock } from '../support/clock.ts';
import { entry, leadRules } from '../support/directory.ts';
import { temporaryFolder } from '../support/folder.ts';
import { acceptEvent, receiptsIn, sealer, workIn } from '../support/partners.ts';
import { migratedPostgres } from '../support/postgres/database.ts';
import { email } from '../support/identities.ts';
import { leaseEvents } from '#partners/worker/lease-events.ts';
import { findMatch } from '#partners/worker/match/find-leads.ts';

const NOW = 1_790_000_000_000;
const clock: Clock = createFakeClock(NOW);
const keyOf = (fill: number): string => Buffer.alloc(32, fill).toString('base64');
const [former, other] = [keyOf(1), keyOf(2)];

const newFile = (): string => path.join(temporaryFolder(), 'data', 'trackport.db');

const engines = [
  ['SQLite', async () => `sqlite:${newFile()}`],
  ['PostgreSQL', async () => (await migratedPostgres()).url],
] as const;

function configOf(url: string, secretKey?: string): Config {
  const tracker = { repository: 'acme/leads', auth: { token: 't' } };
  const settings = { store: { url }, tracker, ...(secretKey !== undefined && { secretKey }) };
  return loadConfig({ environment: {}, settings });
}

async function open(config: Config): Promise<Store> {
  const store = await openStore({ config, clock, log });
  onTestFinished(() => store.close());
  return store;
}

async function openAndClose(config: Config): Promise<void> {
  await (await openStore({ config, clock, log })).close();
}

const another = new ConfigError('The configuration', [
  {
    path: 'secretKey',
    found: 'another key',
    allowed: 'the key that the store was filled with',
    suggestion: 'if it is lost, `trackport store rekey` says what is lost with it',
  },
]);

/** Runs `store rekey`, and answers what it says is lost. */
async function rekey(config: Config, isWanted = true): Promise<readonly LostReceipt[]> {
  let told: readonly LostReceipt[] = [];
  await rekeyStore(config, async (lost) => {
    told = lost;
    if (!isWanted) throw new Error('not wanted');
  });
  return told;
}

/** With a sealer that no key of a store is behind. */
const sessionsIn = (db: Database) => createSessions({ db, sealer, clock });

/** Puts into a store what its key is needed for: a deletion that waits, and one lead that it has claimed. */
async function fill({ database, leadsBy, ...store }: Store) {
  const leads = leadsBy(clock);
  const key = store.directoryKey;
  const hash = hashIdentity(key, email('ada@example.com'));
  await adoptRepository(leads, 1, { rules: rulesCheckOf(leadRules, key), at: NOW });
  const identities = [{ kind: 'email' as const, hash }];
  await putCrawled(leads, [{ ...entry(7), identities }], NOW);
  await completeCrawl(leads, NOW);
  const event = { at: NOW, eventId: 'e', names: identities, sameEventKey: Buffer.alloc(32, 5) };
  const receiptId = await acceptEvent(receiptsIn(database), event);
  const principal = { subject: 'ada', scopes: [], workspaceId: 'one' };
  const sessionId = await sessionsIn(database).start({ principal, name: 'Ada' });
  return { receiptId, hash, sessionId };
}

describe.each(engines)('a store on %s', (_engine, newStore) => {
  test('goes on with the key that it was filled with, and is refused with another one', async () => {
    const url = await newStore();
    await openAndClose(configOf(url, former));
    await openAndClose(configOf(url, former));
    await expect(open(configOf(url, other))).rejects.toThrow(another);
    const refused = openServiceStore({ config: configOf(url, other), clock, log });
    await expect(refused).rejects.toThrow(another);
    await openAndClose(configOf(url, former));
  });

  test('that is new takes one of several keys with which it is opened at once', async () => {
    const url = await newStore();
    const keys = [1, 2, 3, 4].map(keyOf);
    const opened = await Promise.allSettled(keys.map((key) => openAndClose(configOf(url, key))));
    const refused = opened.filter((one) => one.status === 'rejected');
    expect(refused.map(({ reason }) => reason as unknown)).toEqual([another, another, another]);
  });

  test('says that it is of another key to whoever has it open when it gets one', async () => {
    const url = await newStore();
    const store = await open(configOf(url, former));
    await expect(store.checkReading()).resolves.toBeUndefined();
    await onStore(
      url,
      "UPDATE secret_key SET fingerprint = x'12'",
      "UPDATE secret_key SET fingerprint = '12'",
    );
    await expect(store.checkReading()).rejects.toMatchObject({ code: 'store-unavailable' });
  });

  test('has certificates of a former key checked after `store rekey`, and knows no digest of then', async () => {
    const url = await newStore();
    const signerOf = ({ database: db, secretKey }: Store) =>
      createCertificateSigner({ seed: deriveKey(secretKey, 'certificates'), db, clock });
    const claims = { iss: 'i', iat: 1, jti: newUuid(), sub: 'crm-one', events: [] };
    const before = await openStore({ config: configOf(url, former), clock, log });
    await fill(before);
    const certificate = await signerOf(before).sign(claims);
    await before.close();
    await rekey(configOf(url, other));
    const after = await open(configOf(url, other));
    const keys = await signerOf(after).keys();
    expect(keys.keys).toHaveLength(2);
    expect(await verifyCertificate(certificate, keys)).toMatchObject({ isGood: true, claims });
    const digests = await after.database.all('SELECT 1 FROM event WHERE digest IS NOT NULL');
    expect(digests).toEqual([]);
  });

  test('gets another key with `store rekey`, which says first what goes with the former', async () => {
    const url = await newStore();
    const before = await openStore({ config: configOf(url, former), clock, log });
    const { receiptId, hash, sessionId } = await fill(before);
    await expect(rekey(configOf(url, other))).rejects.toThrow(/open|in use/);
    await before.close();
    await onStore(
      url,
      "INSERT INTO directory_merge (from_hash, to_hash) VALUES (x'01', x'02')",
      "INSERT INTO directory_merge (from_hash, to_hash) VALUES ('1', '2')",
    );
    expect(await countHashed(url)).toBe(5);
    const lost = [{ id: receiptId, partnerId: 'crm-one', receivedAt: NOW }];
    await expect(rekey(configOf(url, other), false)).rejects.toThrow('not wanted');
    await openAndClose(configOf(url, former));
    await expect(rekey(configOf(url, former))).rejects.toThrow('has this secretKey already');
    expect(await rekey(configOf(url, other))).toEqual(lost);
    expect(await countHashed(url)).toBe(0);

    await expect(open(configOf(url, former))).rejects.toThrow(another);
    const { database, secretKey, leadsBy } = await open(configOf(url, other));
    const leads = leadsBy(clock);
    const { repository } = configOf(url, other).tracker;
    const work = workIn(database, { repository, key: deriveKey(secretKey, 'payloads') });
    expect(await sessionsIn(database).find(sessionId)).toBeUndefined();
    const names = [{ kind: 'email' as const, hash }];
    expect(
      (await findMatch(work, names, { createdBefore: Infinity, receivedAt: NOW })).leads,
    ).toEqual([]);
    expect(await readClaim(leads, '7')).toMatchObject({ receiptIds: [receiptId] });
    const [item] = await leaseEvents(work, 'match', { now: NOW, limit: 9 });
    expect(item).toMatchObject({ receiptId });
    expect(item).not.toHaveProperty('payload');
    const repeat = { at: NOW, sameEventKey: Buffer.alloc(32, 5) };
    expect(await acceptEvent(receiptsIn(database), repeat)).not.toBe(receiptId);
    expect(await readUpdatedAt(leads, 7)).toBeDefined();
    const rules = rulesCheckOf(leadRules, deriveKey(Buffer.alloc(32, 1), 'directory'));
    await adoptRepository(leads, 1, { rules, at: NOW });
    expect(await readDirectoryState(leads)).toMatchObject({ isCrawling: true, crawl: 2 });
    expect(await readDirectoryState(leads)).not.toHaveProperty('completedAt');
  });
});

/** Runs SQL in the words of the store's engine; answers what the first column of the first row says. */
async function onStore(url: string, sqlite: string, postgres: string): Promise<unknown> {
  if (!url.startsWith('sqlite:')) {
    const database = openPostgres({ url });
    const row = await database.get<object>(postgres);
    await database.close();
    return Object.values(row ?? {})[0];
  }
  const database = openSqlite({ path: url.slice('sqlite:'.length) });
  const statement = database.handle.prepare(sqlite);
  const value = statement.reader ? statement.pluck().get() : statement.run();
  await database.close();
  return value;
}

const HASHED = ['directory_key', 'directory_merge', 'deletion_name', 'same_event', 'session'];
const countHashed = (url: string) => {
  const counts = HASHED.map((table) => `(SELECT count(*) FROM ${table})`);
  const sql = `SELECT ${counts.join(' + ')}`;
  return onStore(url, sql, sql);
};

describe('a key that is in no configuration', () => {
  test('is not made anew where that of the store is gone, nor is another one taken', async () => {
    const file = newFile();
    const config = configOf(`sqlite:${file}`);
    await openAndClose(config);
    const key = readFileSync(`${file}.key`);
    rmSync(`${file}.key`);
    await expect(open(config)).rejects.toThrow(`${file}.key: found no file, expected the key that`);
    expect(existsSync(`${file}.key`)).toBe(false);
    writeFileSync(`${file}.key`, other);
    await expect(open(config)).rejects.toThrow(`${file}.key: found another key`);
    writeFileSync(`${file}.key`, key);
    await openAndClose(config);
  });

  test('is made by `store rekey`, once it is wanted', async () => {
    const file = newFile();
    const config = configOf(`sqlite:${file}`);
    await openAndClose(config);
    rmSync(`${file}.key`);
    await expect(rekey(config, false)).rejects.toThrow('not wanted');
    expect(existsSync(`${file}.key`)).toBe(false);
    expect(await rekey(config)).toEqual([]);
    await openAndClose(config);
  });

  test.each([
    ['holds no key', '', 'move the file away'],
    ['cannot be read (EISDIR)', undefined, 'make it readable'],
  ])('is never replaced where its file %s, and that is said', async (what, content, remedy) => {
    const file = newFile();
    const config = configOf(`sqlite:${file}`);
    await openAndClose(config);
    const keyFile = `${file}.key`;
    rmSync(keyFile);
    if (content === undefined) mkdirSync(keyFile);
    else writeFileSync(keyFile, content);
    const found = `a file that ${what}`;
    const problems = [{ path: keyFile, found, suggestion: expect.stringContaining(remedy) }];
    await expect(open(config)).rejects.toMatchObject({ name: 'ConfigError', problems });
    await expect(rekey(config)).rejects.toMatchObject({ name: 'ConfigError', problems });
    renameSync(keyFile, `${keyFile}.away`);
    expect(await rekey(config)).toEqual([]);
    await openAndClose(config);
  });

  test('is not made for a store that is not there', async () => {
    const config = configOf(`sqlite:${newFile()}`);
    await expect(rekey(config)).rejects.toThrow('There is no such file');
  });
});
