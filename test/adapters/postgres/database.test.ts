import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type PostgresDatabase, openDatabase } from '#adapters/postgres/database.ts';
import type { Statements, Tx } from '#shared/database.ts';
import { createWriteCheck } from '#adapters/write-check.ts';
import { MINUTE, SECOND } from '#shared/clock.ts';
import { advisoryLocks } from '#shared/sql.ts';
import { createFakeClock } from '../../support/clock.ts';
import {
  connectToPostgres,
  emptyPostgres,
  migratedPostgres,
  temporaryPostgres,
} from '../../support/postgres/database.ts';
import { startPostgres } from '../../support/postgres/server.ts';

const unavailable = { code: 'store-unavailable', retryAfterSeconds: 1 };

async function withTable(database: PostgresDatabase): Promise<PostgresDatabase> {
  await database.exec('CREATE TABLE note (id integer PRIMARY KEY, body text)');
  return database;
}

const opened = async (): Promise<PostgresDatabase> =>
  withTable(await connectToPostgres(await emptyPostgres()));

/** With one connection, on which everything runs. */
async function openedAlone(): Promise<PostgresDatabase> {
  const { url } = await emptyPostgres();
  const database = openDatabase({ url, connectionsMax: 1 });
  onTestFinished(() => database.close());
  return withTable(database);
}

const insert = (session: Statements, id: number, body = ''): Promise<number> =>
  session.run('INSERT INTO note (id, body) VALUES (@id, @body)', { id, body });

const count = async (session: Statements): Promise<number | undefined> =>
  (await session.get<{ notes: number }>('SELECT count(*) AS notes FROM note'))?.notes;

describe('a statement', () => {
  test('takes values by name, often, and answers columns in camel case', async () => {
    const database = await opened();
    const sql = `SELECT @big::bigint AS big_number, @big::bigint + 1 AS next, @name::text AS name,
      'a@' ~ '@' AS at_sign, ARRAY[1, 2] @> ARRAY[@one::integer] AS holds`;
    const big = Number.MAX_SAFE_INTEGER - 1;
    expect(await database.get(sql, { big, name: '$1 "\'', one: 2, more: 'unused' })).toEqual({
      bigNumber: big,
      next: big + 1,
      name: '$1 "\'',
      atSign: true,
      holds: true,
    });
    await expect(database.get(sql, { big })).rejects.toThrow('no value for @name');
  });

  test('gives the same whenever it runs on a connection, for every kind of value', async () => {
    const database = await openedAlone();
    const sql = `SELECT @text::text AS plain_text, @nothing::text AS nothing, @bytes::bytea AS bytes,
      @yes::boolean AS yes, @big::bigint AS big, @texts::text[] AS texts, @mixed::bigint[] AS mixed,
      '{"a": 1}'::jsonb AS json, 1.5::float8 AS part FROM generate_series(1, @times)`;
    const values = {
      text: 'Zoë "{}\\\'',
      nothing: undefined,
      bytes: Buffer.from([0, 255, 92]),
      yes: true,
      big: Number.MAX_SAFE_INTEGER,
      texts: ['a,b', '"', '\\', 'NULL', ''],
    };
    const given = { ...values, mixed: [1, null], times: 2 };
    const { text: plainText, ...others } = values;
    const row = { ...others, plainText, mixed: ['1', null], json: '{"a": 1}', part: 1.5 };
    for (let turn = 0; turn < 3; turn += 1)
      expect(await database.all(sql, given)).toEqual([row, row]);
    expect(await database.all(sql, { ...given, times: 0 })).toEqual([]);
  });

  test('says how many rows it changed, whenever it runs', async () => {
    const database = await openedAlone();
    const add = `INSERT INTO note SELECT id, '' FROM unnest(@ids::integer[]) AS id
      ON CONFLICT DO NOTHING`;
    const remove = 'DELETE FROM note WHERE id = ANY(@ids)';
    for (let turn = 0; turn < 2; turn += 1) {
      expect(await database.run(add, { ids: [1, 2, 3] })).toBe(3);
      expect(await database.run(add, { ids: [1, 2, 3, 4] })).toBe(1);
      expect(await database.run(remove, { ids: [1, 2, 3, 4, 5] })).toBe(4);
      expect(await database.run(remove, { ids: [] })).toBe(0);
    }
  });

  test('that fails when it runs again leaves its connection as it was', async () => {
    const database = await openedAlone();
    const divide = 'SELECT 12 / @by::integer AS part, pg_backend_pid() AS pid';
    const first = await database.get(divide, { by: 3 });
    await expect(database.get(divide, { by: 0 })).rejects.toMatchObject({ code: '22012' });
    await expect(database.get(divide, { by: 'x' })).rejects.toMatchObject({ code: '22P02' });
    expect(await database.get(divide, { by: 3 })).toEqual(first);
  });

  test('takes text with NUL, as something else', async () => {
    const database = await opened();
    await insert(database, 1, 'a\0b');
    const found = 'SELECT body FROM note WHERE body = ANY(@bodies)';
    expect(await database.all(found, { bodies: ['a\0b'] })).toEqual([{ body: 'a\uFFFDb' }]);
  });

  test('is durable once it is answered', async () => {
    const database = await opened();
    const sql = "SELECT current_setting('synchronous_commit') AS setting";
    expect(await database.get(sql)).toEqual({ setting: 'on' });
  });
});

describe('statements that are asked for together', () => {
  test('come back each with its own rows, whether the connection knows them or not', async () => {
    const database = await openedAlone();
    const of = (session: Statements, turn: number) =>
      Promise.all([
        insert(session, turn, 'a'),
        session.all<{ id: number }>('SELECT id FROM note ORDER BY id'),
        session.get(`SELECT ${turn} AS turn`),
        session.run("UPDATE note SET body = 'b'"),
        session.all('SELECT id FROM note WHERE id < 0'),
      ]);
    for (const turn of [1, 2, 3]) {
      const ids = Array.from({ length: turn }, (_, index) => ({ id: index + 1 }));
      expect(await database.transaction((session) => of(session, turn))).toEqual([
        1,
        ids,
        { turn },
        turn,
        [],
      ]);
    }
  });

  test('fail together, and the connection serves on', async () => {
    const database = await openedAlone();
    const divide = (session: Statements, by: number) =>
      session.get('SELECT 12 / @by::integer AS part', { by });
    const half = (by: number) =>
      database.transaction((session) =>
        Promise.all([count(session), insert(session, 1), divide(session, by), count(session)]),
      );
    expect(await half(3)).toEqual([0, 1, { part: 4 }, 1]);
    await database.run('DELETE FROM note');
    await expect(half(0)).rejects.toMatchObject({ code: '22012' });
    expect(await half(4)).toEqual([0, 1, { part: 3 }, 1]);
  });
});

describe('an exclusive transaction', () => {
  const WAITING =
    "SELECT count(*) AS count FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";

  /** Each of several connections knows none of the statements first, then some, then all. */
  test('sees from its first statement on what whoever was before it has written', async () => {
    const own = await emptyPostgres();
    const holder = await withTable(await connectToPostgres(own));
    const other = openDatabase({ url: own.url, connectionsMax: 1 });
    onTestFinished(() => other.close());
    for (const [turn, isExclusive] of [false, true, true, false, true].entries()) {
      let counting: Promise<number | undefined> | undefined;
      await holder.exclusive(async (tx) => {
        await insert(tx, turn);
        if (!isExclusive) return;
        counting = other.exclusive((waiting) => count(waiting));
        while ((await holder.get<{ count: number }>(WAITING))?.count === 0);
      });
      counting ??= other.transaction((free) => count(free));
      expect(await counting).toBe(turn + 1);
    }
  });

  test('waits for those before it without a connection', async () => {
    const database = await openedAlone();
    const begun = Promise.withResolvers<void>();
    const others = [1, 2, 3].map((id) => database.exclusive((tx) => insert(tx, id)));
    begun.resolve();
    await Promise.all([begun.promise, ...others]);
    expect(await count(database)).toBe(3);
  });

  test('of which one fails lets the next one in', async () => {
    const database = await opened();
    const failing = database.exclusive(async (tx) => {
      await insert(tx, 1);
      throw new Error('a mistake');
    });
    const next = database.exclusive((tx) => insert(tx, 2));
    await expect(failing).rejects.toThrow('a mistake');
    await next;
    expect(await database.all('SELECT id FROM note')).toEqual([{ id: 2 }]);
  });
});

describe('a transaction', () => {
  test('sees what was committed while it waited, whatever the defaults of the database are', async () => {
    const own = await emptyPostgres();
    const { pathname } = new URL(own.url);
    const setUp = await withTable(await connectToPostgres(own));
    const defaults = [
      "default_transaction_isolation = 'serializable'",
      'array_nulls = off',
      'extra_float_digits = -15',
      'standard_conforming_strings = off',
      'quote_all_identifiers = on',
    ];
    for (const one of defaults) await setUp.exec(`ALTER DATABASE ${pathname.slice(1)} SET ${one}`);
    const database = await connectToPostgres(own);
    const seen = await database.transaction(async (session) => {
      const before = await count(session);
      await insert(setUp, 1);
      return { before, after: await count(session) };
    });
    expect(seen).toEqual({ before: 0, after: 1 });
    const sql = `SELECT @texts::text[] AS texts, 0.12345678::float8 AS part,
      length('a\\b') AS characters, 'note'::regclass::text AS name`;
    expect(await database.get(sql, { texts: ['a', null] })).toEqual({
      texts: ['a', null],
      part: 0.12345678,
      characters: 3,
      name: 'note',
    });
  });

  test('is undone when its work fails, and passes the failure on as it is', async () => {
    const database = await opened();
    const mistake = new Error('a mistake');
    const failing = database.transaction(async (session) => {
      await insert(session, 1);
      throw mistake;
    });
    await expect(failing).rejects.toBe(mistake);
    expect(await count(database)).toBe(0);
  });

  test('serves nobody any more once it is over: its connection is somebody else’s by then', async () => {
    const database = await openedAlone();
    const left = Promise.withResolvers<Tx>();
    const begun = database.transaction(async (session) => {
      left.resolve(session);
      await insert(session, 1);
      throw new Error('a mistake');
    });
    await expect(begun).rejects.toThrow('a mistake');
    const former = await left.promise;
    await database.transaction(async (session) => {
      await insert(session, 2);
      for (const late of [insert(former, 3), former.exec('SELECT 1')])
        await expect(late).rejects.toThrow('the transaction is over');
    });
    expect(await database.all('SELECT id FROM note')).toEqual([{ id: 2 }]);
  });

  test('writes nothing that its work asked for, and did not wait for, before it failed', async () => {
    const database = await openedAlone();
    for (const turn of [1, 2, 3]) {
      let written: Promise<unknown> | undefined;
      const failing = database.transaction(async (session) => {
        written = insert(session, turn).catch(() => undefined);
        throw new Error('a mistake');
      });
      await expect(failing).rejects.toThrow('a mistake');
      await written;
      expect(await count(database)).toBe(0);
    }
  });

  test('that passes over a failure of one of its statements fails all the same', async () => {
    const database = await openedAlone();
    for (const _turn of [1, 2, 3])
      await expect(
        database.transaction(async (session) => {
          await insert(session, 1);
          await session.get('SELECT 1 / @by::integer', { by: 0 }).catch(() => undefined);
        }),
      ).rejects.toThrow('division by zero');
    expect(await count(database)).toBe(0);
  });

  test('is undone when it began with several statements at once, on any connection', async () => {
    const database = await openedAlone();
    for (const _turn of [1, 2]) {
      const failing = database.transaction(async (session) => {
        await session.exec("INSERT INTO note VALUES (1, ''); INSERT INTO note VALUES (2, '')");
        throw new Error('a mistake');
      });
      await expect(failing).rejects.toThrow('a mistake');
      expect(await count(database)).toBe(0);
    }
  });

  test('that breaks a rule of the schema says so, and its connection serves on', async () => {
    const database = await openedAlone();
    const pid = () => database.get('SELECT pg_backend_pid() AS pid');
    const before = await pid();
    const twice = database.transaction(async (session) => {
      await insert(session, 1);
      await insert(session, 1);
    });
    await expect(twice).rejects.toMatchObject({ code: '23505' });
    expect(await count(database)).toBe(0);
    expect(await pid()).toEqual(before);
  });

  test('that met another one in a deadlock is made once more', async () => {
    const database = await opened();
    for (const id of [1, 2]) await insert(database, id);
    const both = Promise.withResolvers<void>();
    const survived = Promise.withResolvers<void>();
    let tries = 0;
    let locked = 0;
    const lock = (session: Statements, id: number) =>
      session.run("UPDATE note SET body = body || 'x' WHERE id = @id", { id });
    const meet = ([first, second]: [number, number]) =>
      database.transaction(async (session) => {
        tries += 1;
        if (tries === 3) await survived.promise; // else it may take the same lock first again
        await lock(session, first);
        locked += 1;
        if (locked === 2) both.resolve();
        await both.promise;
        await lock(session, second);
      });
    const meetings = [meet([1, 2]), meet([2, 1])];
    await Promise.race(meetings);
    survived.resolve();
    await Promise.all(meetings);
    expect(locked).toBe(3);
    expect(await database.all('SELECT body FROM note')).toEqual([{ body: 'xx' }, { body: 'xx' }]);
  });
});

describe('trouble is store-unavailable, and ends by itself:', () => {
  test('a connection that breaks in the middle', async () => {
    const database = await opened();
    const broken = database.transaction(async (session) => {
      await insert(session, 1);
      const me = await session.get<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      await database.get('SELECT pg_terminate_backend(@pid)', me);
      await insert(session, 2);
    });
    await expect(broken).rejects.toMatchObject(unavailable);
    expect(await count(database)).toBe(0);
    await insert(database, 3);
    expect(await count(database)).toBe(1);
  });

  test('a pool that has none to give', async () => {
    const { url } = await emptyPostgres();
    const options = { url, connectionsMax: 1, connectTimeoutMs: 2000, idleMaxMs: MINUTE };
    const database = openDatabase(options);
    onTestFinished(() => database.close());
    await database.transaction(async () => {
      await expect(database.get('SELECT 1')).rejects.toMatchObject(unavailable);
    });
    expect(await database.get('SELECT 1 AS one')).toEqual({ one: 1 });
  });

  test('a statement that takes too long, and a lock that nobody gives back', async () => {
    const own = await emptyPostgres();
    const database = await withTable(await connectToPostgres(own));
    const another = await connectToPostgres(own);
    await insert(database, 1);
    const slow = database.transaction(async (session) => {
      await session.exec('SET LOCAL statement_timeout = 20');
      await session.get('SELECT pg_sleep(9)');
    });
    await expect(slow).rejects.toMatchObject(unavailable);
    const update = "UPDATE note SET body = 'x' WHERE id = 1";
    await database.transaction(async (session) => {
      await session.run(update);
      const waiting = another.transaction(async (other) => {
        await other.exec('SET LOCAL lock_timeout = 20');
        await other.run(update);
      });
      await expect(waiting).rejects.toMatchObject({
        ...unavailable,
        detail: 'The store is busy with another process.',
      });
    });
    expect(await database.run(update)).toBe(1);
  });

  test('a lock for all who write that nobody gives back, though all failures are read at once', async () => {
    const own = await emptyPostgres();
    const database = await withTable(await connectToPostgres(own));
    const holder = new pg.Client({ connectionString: own.url });
    onTestFinished(() => holder.end());
    await holder.connect();
    await database.exclusive((tx) => insert(tx, 1)); // which the connection knows from now on
    await holder.query(`SELECT pg_advisory_lock(${advisoryLocks.exclusive})`);
    const waiting = database.exclusive((tx) => insert(tx, 2)).catch((error: unknown) => error);
    await setTimeout(2.9 * SECOND);
    for (const until = performance.now() + 400; performance.now() < until;);
    expect(await waiting).toMatchObject(unavailable);
    await holder.query('SELECT pg_advisory_unlock_all()');
    expect(await database.exclusive((tx) => insert(tx, 2))).toBe(1);
  });

  test('a server that ends transactions after a time of its own', async (context) => {
    const own = await emptyPostgres();
    const first = await connectToPostgres(own);
    const server = await first.get<{ major: number }>(
      "SELECT current_setting('server_version_num')::integer / 10000 AS major",
    );
    context.skip((server?.major ?? 0) < 17, 'PostgreSQL ends none before 17');
    const name = new URL(own.url).pathname.slice(1);
    await first.run(`ALTER DATABASE ${name} SET transaction_timeout = '20ms'`);
    const database = await connectToPostgres(own); // new connections take the setting
    for (const _try of [1, 2])
      await expect(database.get('SELECT pg_sleep(9)')).rejects.toMatchObject(unavailable);
  });

  test('a password that is wrong, and a database that is not there', async () => {
    const { url } = await emptyPostgres();
    const [wrongPassword, wrongDatabase] = [new URL(url), new URL(url)];
    wrongPassword.password = 'wrong';
    wrongDatabase.pathname = '/nowhere';
    for (const { href } of [wrongPassword, wrongDatabase]) {
      const database = openDatabase({ url: href });
      onTestFinished(() => database.close());
      await expect(database.get('SELECT 1')).rejects.toMatchObject(unavailable);
    }
  });

  test('a search_path without our tables, until it is mended', async () => {
    const own = await migratedPostgres();
    const first = await connectToPostgres(own);
    const name = new URL(own.url).pathname.slice(1);
    await first.exec(`CREATE SCHEMA other; ALTER DATABASE ${name} SET search_path = other`);
    onTestFinished(() => first.exec(`DROP SCHEMA IF EXISTS other`));
    const database = await connectToPostgres(own);
    const look = () => database.get('SELECT count(*) AS consumers FROM consumer');
    await expect(look()).rejects.toMatchObject({
      code: 'store-unavailable',
      detail: 'The store has no table of Trackport in its search_path.',
    });
    await first.exec(`ALTER DATABASE ${name} RESET search_path`);
    expect(await look()).toBeDefined();
  });

  test('a store that may only be read, as a standby', async () => {
    const own = await migratedPostgres();
    const database = await connectToPostgres(own);
    const clock = createFakeClock();
    const writes = createWriteCheck(database, clock);
    await writes.check();
    const name = new URL(own.url).pathname.slice(1);
    const setReadOnly = async (state: 'on' | 'off'): Promise<void> => {
      const other = await connectToPostgres(own);
      await other.transaction((session) =>
        session.exec(`SET TRANSACTION READ WRITE;
          ALTER DATABASE ${name} SET default_transaction_read_only = ${state}`),
      );
      // New connections take the setting.
      await other.get(`SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()`);
    };
    await setReadOnly('on');
    onTestFinished(() => setReadOnly('off'));
    await clock.advance(10_000);
    await writes.check().catch(() => undefined); // the connection that was cut off
    await clock.advance(2000);
    await expect(writes.check()).rejects.toMatchObject({ detail: 'The store cannot be written.' });
    expect(await database.get('SELECT count(*) AS consumers FROM consumer')).toBeDefined();
    await setReadOnly('off');
    await clock.advance(2000);
    await writes.check().catch(() => undefined);
    await clock.advance(2000);
    await writes.check();
  });

  test('a server that goes down in the middle and comes back, as in a failover', async () => {
    const server = await startPostgres();
    onTestFinished(() => server.stop());
    const database = openDatabase({ url: server.url });
    onTestFinished(() => database.close());
    await withTable(database);
    await insert(database, 1);
    const cut = database.transaction(async (session) => {
      await insert(session, 2);
      await server.halt();
      await insert(session, 3);
    });
    await expect(cut).rejects.toMatchObject(unavailable);
    await expect(database.get('SELECT 1')).rejects.toMatchObject(unavailable);
    await server.start();
    expect(await count(database)).toBe(1);
    await insert(database, 4);
    expect(await count(database)).toBe(2);
  });
});

test('a standby, which does not know each claim, is not read', async () => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  await server.halt();
  await server.start('standby');
  const database = await connectToPostgres(server);
  await expect(database.get('SELECT 1')).rejects.toMatchObject({
    ...unavailable,
    detail: expect.stringContaining('is a standby'),
  });
});

test('a pool that is closed gives nothing any more, and closes once', async () => {
  const database = await temporaryPostgres();
  await Promise.all([database.close(), database.close()]);
  await expect(database.get('SELECT 1')).rejects.toMatchObject(unavailable);
});
