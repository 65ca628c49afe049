import { expect, test } from 'vitest';
import type { SqliteDatabase } from '#adapters/sqlite/database.ts';
import { toSqlite } from '#adapters/sqlite/statements.ts';
import { readEntries } from '#access/audit-log.ts';
import { type AuditEntry, appendAudit } from '#shared/audit.ts';
import type { Database, Statements } from '#shared/database.ts';
import { describeAuditLog } from '../contract/audit-log.ts';
import { temporaryPostgres } from '../support/postgres/database.ts';
import { temporaryDatabase } from '../support/stores.ts';

const fixtureOn = (database: Database) => ({
  list: (query: Parameters<typeof readEntries>[1]) => readEntries(database, query),
  append: (entry: AuditEntry) => database.transaction(async (tx) => appendAudit(tx, entry)),
});

describeAuditLog('SQLite', async () => fixtureOn(temporaryDatabase()));
describeAuditLog('PostgreSQL', async () => fixtureOn(await temporaryPostgres()));

/** The database, and every statement that reads it from now on. */
function watch(database: SqliteDatabase): { watched: Statements; statements: string[] } {
  const statements: string[] = [];
  const all: Statements['all'] = (sql, values) => {
    statements.push(toSqlite(sql));
    return database.all(sql, values);
  };
  return { watched: { ...database, all }, statements };
}

/** Query plan of SQLite for a statement. */
function planOf({ handle }: SqliteDatabase, sql: string): string {
  const values = Object.fromEntries(Array.from(sql.matchAll(/@(\w+)/g), ([, name]) => [name, 1]));
  const steps = handle.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(values) as { detail: string }[];
  return steps.map(({ detail }) => detail).join('; ');
}

test.each([
  [{}, 'audit_by_time'],
  [{ since: 5 }, 'audit_by_time'],
  [{ actor: 'a' }, 'audit_by_actor'],
  [{ actor: 'a', since: 5 }, 'audit_by_actor'],
  [{ action: 'key.revoke' }, 'audit_by_action'],
  [{ action: 'key.revoke', since: 5 }, 'audit_by_action'],
  [{ actor: 'a', action: 'key.revoke', since: 5 }, 'audit_by_actor_and_action'],
  [{ subject: 'claim/1' }, 'audit_by_subject'],
  [{ subject: 'claim/1', actor: 'a', action: 'key.revoke' }, 'audit_by_subject'],
  [{ subject: 'claim/1', since: 5 }, 'audit_by_subject'],
] as const)('a page of %j is found by %s', async (filter, index) => {
  const database = temporaryDatabase();
  const { watched, statements } = watch(database);
  for (const after of [undefined, [9, 9] as [number, number]]) {
    await readEntries(watched, { filter, limit: 2, after });
    const plan = planOf(database, statements.at(-1) ?? '');
    expect(plan).toMatch(new RegExp(`USING INDEX ${index}\\b`));
    // Rows that an index has in order already are never read whole to be sorted.
    if (!('subject' in filter)) expect(plan).not.toContain('TEMP B-TREE');
  }
});
