/** Imported before a program: writes each statement that it prepares on a SQLite connection that may write to `STATEMENTS_FILE`, once. */
import { appendFileSync } from 'node:fs';
import SqliteDatabase from 'better-sqlite3';

const file = process.env['STATEMENTS_FILE'] ?? '';
const seen = new Set<string>();
const prepare = Reflect.get(SqliteDatabase.prototype, 'prepare');

SqliteDatabase.prototype.prepare = function (this: SqliteDatabase.Database, sql: string) {
  if (!this.readonly && !seen.has(sql)) {
    appendFileSync(file, `${JSON.stringify(sql)}\n`);
    seen.add(sql);
  }
  return prepare.call(this, sql);
} as typeof prepare;
