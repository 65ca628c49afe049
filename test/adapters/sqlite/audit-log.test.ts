import { expect, test } from 'vitest';
import { createAuditLog } from '#adapters/sqlite/audit-log.ts';
import type { Database } from '#adapters/sqlite/connection/database.ts';
import { describeAuditLog } from '../../contract/audit-log.ts';
import { temporaryDatabase } from '../../support/stores.ts';

describeAuditLog('SQLite', async () => {
  const log = createAuditLog(temporaryDatabase());
  return {
    log,
    append: async (entry) => log.append(entry),
    listOf: async (subject) => log.listOf(subject),
  };
});

/** The database, and every statement that is prepared on it from now on. */
function watch(database: Database): { watched: Database; statements: string[] } {
  const statements: string[] = [];
  const handle = new Proxy(database.handle, {
    get: (target, name) => {
      if (name !== 'prepare') return Reflect.get(target, name, target);
      return (sql: string) => {
        statements.push(sql);
        return target.prepare(sql);
      };
    },
  });
  return { watched: { ...database, handle }, statements };
}

/** How SQLite finds the rows of a statement. */
function planOf({ handle }: Database, sql: string): string {
  const values = Array.from(sql.matchAll(/\?/g), () => 1);
  const steps = handle.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values) as { detail: string }[];
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
  const log = createAuditLog(watched);
  for (const after of [{}, { after: { at: 9, id: 9 } }]) {
    await log.list({ filter, limit: 2, ...after });
    const plan = planOf(database, statements.at(-1) ?? '');
    expect(plan).toMatch(new RegExp(`USING INDEX ${index}\\b`));
    // What an index has in order already is never read whole to be sorted.
    if (!('subject' in filter)) expect(plan).not.toContain('TEMP B-TREE');
  }
});
