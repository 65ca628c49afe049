import { userInfo } from 'node:os';
import { beforeEach, describe, expect, test } from 'vitest';
import type { SqliteDatabase } from '#adapters/sqlite/database.ts';
import { HOUR } from '#shared/clock.ts';
import { createFakeClock, type FakeClock } from '../support/clock.ts';
import { environmentOf, type Output, runCommand } from '../support/command.ts';
import { temporaryDatabase } from '../support/stores.ts';
import { auditOf } from '../support/audit.ts';
import { isKeyGood } from '../access/support.ts';
import { openWorld } from '../support/world.ts';

let clock: FakeClock;
let database: SqliteDatabase;

beforeEach(() => {
  clock = createFakeClock();
  database = temporaryDatabase();
});

function consumer(
  args: string[],
  how: { hasColour?: boolean; ask?: (question: string) => string } = {},
): Promise<Output> {
  const environment = environmentOf(database);
  return runCommand(['consumer', ...args], { clock, environment, ...how });
}

async function json<T>(...args: string[]): Promise<T> {
  return JSON.parse((await consumer([...args, '--json'])).out) as T;
}

type Created = { id: string; name: string; grants: unknown[]; key: string };
type Shown = {
  id: string;
  state: string;
  grants: unknown[];
  limitPerMinute?: number;
  keys: { keyId: string; state: string; expiresAt?: string; createdBy: string }[];
};

/** True when the running server lets the key in. */
function isAccepted(key: string): Promise<boolean> {
  return isKeyGood(openWorld({ database, clock }).access, key);
}

describe('consumer create', () => {
  test('prints id, name, grants and key as JSON, and the key works', async () => {
    const created = await json<Created>('create', 'Sales', '--grant', 'leads:read');
    expect(created).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Sales',
      grants: [{ action: 'leads:read' }],
      key: expect.stringMatching(/^tpk_/),
    });
    expect(await isAccepted(created.key)).toBe(true);
  });

  test('a grant for the catalog names its workspace', async () => {
    const both = ['--grant', 'leads:read', '--grant', 'catalog:read', '--workspace', 'acme'];
    const { id } = await json<Created>('create', 'Docs', ...both, '--label', 'emea');
    const { grants } = await json<Shown>('show', id);
    expect(grants).toEqual([
      { action: 'catalog:read', workspace: 'acme' },
      { action: 'leads:read', labels: ['emea'] },
    ]);
    const { out } = await consumer(['show', id]);
    expect(out).toContain('catalog:read (workspace acme), leads:read (emea)');
  });

  test.each([
    [['--grant', 'catalog:read'], '--workspace'],
    [['--grant', 'leads:read', '--workspace', 'acme'], '--grant catalog:read'],
    [['--label', 'emea'], '--grant'],
    [['--grant', 'catalog:read', '--workspace', 'a', '--label', 'b'], '--grant leads:read'],
  ])('%j is refused with what is missing', async (options, missing) => {
    await expect(consumer(['create', 'Docs', ...options])).rejects.toMatchObject({
      name: 'UsageError',
      message: expect.stringContaining(missing),
    });
  });

  test('labels belong to the grant for leads, wherever they stand', async () => {
    const grants = [{ action: 'leads:read', labels: ['emea', 'big deal'] }];
    const after = ['--grant', 'leads:read', '--label', 'emea', '--label', 'big deal'];
    const before = ['--label', 'emea', '--label', 'big deal', '--grant', 'leads:read'];
    for (const [index, options] of [after, before].entries())
      expect(await json<Created>('create', `c${index}`, ...options)).toMatchObject({ grants });
  });

  test('a name that another consumer has is refused, unless --force', async () => {
    const { id } = await json<Created>('create', 'Sales tools');
    const again = consumer(['create', ' sales TOOLS ']);
    await expect(again).rejects.toMatchObject({
      code: 'validation-failed',
      message: expect.stringMatching(new RegExp(`${id}.*--force`)),
    });
    await json<Created>('create', 'sales tools', '--force');
    const other = await json<Created>('create', 'CRM');
    await expect(consumer(['update', other.id, '--name', 'Sales Tools'])).rejects.toThrow(
      '--force',
    );
    await consumer(['update', other.id, '--name', 'Sales Tools', '--force']);
    expect((await json<{ items: object[] }>('list')).items).toHaveLength(3);
  });

  test.each(['2026-03-31', '2026-03-31T00:00:00Z'])('a key can expire on %s', async (when) => {
    const { id } = await json<Created>('create', 'Sales', '--expires', when);
    await consumer(['add-key', id, '--expires', when]);
    const { keys } = await json<Shown>('show', id);
    const expected = '2026-03-31T00:00:00Z';
    expect(keys.map(({ expiresAt }) => expiresAt)).toEqual([expected, expected]);
  });

  test.each([
    ['--expires', 'soon'],
    ['--limit', 'many'],
  ])('%s %s is a wrong argument that is quoted', async (option, value) => {
    await expect(consumer(['create', 'Sales', `${option}=${value}`])).rejects.toMatchObject({
      name: 'UsageError',
      message: expect.stringContaining(`"${value}"`),
    });
  });
});

describe('consumer list and show', () => {
  test('list is a table, without control characters from names', async () => {
    const { id } = await json<Created>('create', 'Sales', '--grant', 'leads:read', '--label', 'a');
    database.handle.exec(`UPDATE consumer SET name = 'x' || char(27) || '[31m'`);
    const { out } = await consumer(['list']);
    expect(out.split('\n')[1]).toMatch(
      new RegExp(`^${id} {2}x\\?\\[31m +active +leads:read \\(a\\) +1`),
    );
    expect(out).not.toContain('\u001B');
  });

  test('states have colours only where the terminal wants them', async () => {
    const { id } = await json<Created>('create', 'Sales');
    expect((await consumer(['show', id], { hasColour: true })).out).toContain('\u001B[32mactive');
    expect((await consumer(['show', id])).out).not.toContain('\u001B');
  });

  test('no output but that of create, add-key and rotate holds a key or digest', async () => {
    const { id, key } = await json<Created>('create', 'Sales');
    const digest = database.handle
      .prepare('SELECT hex(sha256) FROM api_key')
      .pluck()
      .get() as string;
    for (const args of [['list'], ['show', id], ['grant', id], ['revoke', id]])
      for (const form of [[], ['--json']]) {
        const { out, notes } = await consumer([...args, ...form]);
        expect((out + notes).toLowerCase()).not.toContain(digest.toLowerCase());
        expect(out + notes).not.toContain(key.slice(17, -4));
      }
  });
});

describe('consumer grant and update', () => {
  test('update sets and takes back a limit, and disables a consumer for a while', async () => {
    const { id, key } = await json<Created>('create', 'Sales', '--limit', '5');
    expect(await json<Shown>('show', id)).toMatchObject({ limitPerMinute: 5 });
    expect(await json('update', id, '--limit', 'default')).not.toHaveProperty('limitPerMinute');
    await expect(consumer(['update', id])).rejects.toMatchObject({
      name: 'UsageError',
      message: 'Give at least one of --name, --limit and --state.',
    });
    await consumer(['update', id, '--state', 'disabled']);
    expect(await isAccepted(key)).toBe(false);
    await consumer(['update', id, '--state', 'active']);
    expect(await isAccepted(key)).toBe(true);
    const revoked = consumer(['update', id, '--state', 'revoked']);
    await expect(revoked).rejects.toMatchObject({ name: 'UsageError' });
  });
});

describe('consumer rotate, add-key and revoke', () => {
  test('rotate prints the new key, and both work until the overlap ends', async () => {
    const { id, key } = await json<Created>('create', 'Sales');
    const rotated = await json<{ key: string }>('rotate', id, '--overlap', '1h');
    expect(Object.keys(rotated)).toEqual(['key']);
    expect(await isAccepted(key)).toBe(true);
    expect(await isAccepted(rotated.key)).toBe(true);
    await clock.advance(HOUR);
    expect(await isAccepted(key)).toBe(false);
    expect(await isAccepted(rotated.key)).toBe(true);
  });

  test('rotate takes 24 hours of overlap, and one of several keys by its id', async () => {
    const { id } = await json<Created>('create', 'Sales');
    await consumer(['add-key', id, '--expires', '90d']);
    await expect(consumer(['rotate', id])).rejects.toMatchObject({ code: 'validation-failed' });
    const { keys } = await json<Shown>('show', id);
    const keyId = keys[1]?.keyId ?? '';
    await consumer(['rotate', id, '--key', keyId]);
    const expiries = (await json<Shown>('show', id)).keys.map(({ expiresAt }) => expiresAt);
    expect(expiries).toEqual([undefined, '2026-03-02T12:00:00Z', '2026-05-30T12:00:00Z']);
  });

  test('rotate for people prints the key alone, so that it can be piped', async () => {
    const { id } = await json<Created>('create', 'Sales');
    const { out, notes } = await consumer(['rotate', id]);
    expect(out).toMatch(/^tpk_\S{51}\n$/);
    expect(notes).toContain('shown once');
  });

  test('revoke asks the person at a terminal, and only yes is yes', async () => {
    const { id } = await json<Created>('create', 'Sales');
    const [key] = (await json<Shown>('show', id)).keys;
    const asked: string[] = [];
    const saying = (answer: string) => ({
      ask: (question: string) => {
        asked.push(question);
        return answer;
      },
    });
    for (const answer of ['', 'yes please'])
      await expect(consumer(['revoke', id], saying(answer))).rejects.toMatchObject({
        name: 'CommandFailure',
        message: 'Nothing was changed.',
      });
    expect((await json<Shown>('show', id)).state).toBe('active');
    await consumer(['revoke', id, '--key', key?.keyId ?? ''], saying(' Y '));
    await consumer(['revoke', id], saying('yes'));
    expect((await json<Shown>('show', id)).state).toBe('revoked');
    expect(asked[0]).toBe(
      'Revoke consumer "Sales" with all its keys (1 active), at once and for good? [y/N] ',
    );
    expect(asked.slice(2)).toEqual([
      `Revoke key ${key?.keyId} of consumer "Sales", at once and for good? [y/N] `,
      'Revoke consumer "Sales" with all its keys (0 active), at once and for good? [y/N] ',
    ]);
  });

  test('revoke asks nobody with --yes, or when nothing will change', async () => {
    const { id } = await json<Created>('create', 'Sales');
    const ask = (): string => {
      throw new Error('asked');
    };
    await consumer(['revoke', id, '--yes'], { ask });
    const [key] = (await json<Shown>('show', id)).keys;
    await consumer(['revoke', id], { ask });
    await consumer(['revoke', id, '--key', key?.keyId ?? ''], { ask });
    for (const missing of [
      ['revoke', 'nobody'],
      ['revoke', id, '--key', 'none'],
    ])
      await expect(consumer(missing, { ask })).rejects.toMatchObject({ code: 'not-found' });
  });

  test('every change is in the audit log under the name of the operator', async () => {
    const { id } = await json<Created>('create', 'Sales');
    const grants = [{ action: 'leads:read', labels: ['emea'] }];
    const granted = await json('grant', id, '--grant', 'leads:read', '--label', 'emea');
    expect(granted).toMatchObject({ grants });
    await consumer(['add-key', id]);
    await consumer(['update', id, '--name', 'CRM']);
    await consumer(['revoke', id]);
    const entries = await auditOf(database, `consumer/${id}`);
    expect(new Set(entries.map(({ actor }) => actor.subject))).toEqual(
      new Set([userInfo().username]),
    );
    expect(entries.map(({ action }) => action)).toEqual([
      'consumer.create',
      'consumer.grant',
      'key.create',
      'consumer.update',
      'consumer.revoke',
    ]);
  });
});

test('a running server notices a revocation from the command line', async () => {
  const { id, key } = await json<Created>('create', 'Sales');
  const { access } = openWorld({ database, clock });
  await access.authenticate(key);
  await consumer(['revoke', id]);
  await clock.advance(10);
  await expect(access.authenticate(key)).rejects.toMatchObject({ code: 'unauthorized' });
});
