import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, inject, test } from 'vitest';
import SqliteDatabase from 'better-sqlite3';
import { scratchFolder } from '../../support/at-exit.ts';

const RECORDER = pathToFileURL(path.resolve('test/adapters/sqlite/recorded-statements.ts')).href;
const HISTORIES = '{"from":1,"below":6,"every":1}';

/** Tables of a few rows, or of what is kept for a short time. Every other one grows with what comes in. */
const SMALL = new Set([
  'access_version',
  'api_key',
  'claim_version',
  'consumer',
  'lead_feed_reader',
  'partner_heard',
  'sqlite_schema',
  'tracker_repository',
  'traffic',
]);

/** Read whole, or in a part that no index of its own is worth: once a crawl, at a start, when it is asked for. */
const SWEEPS = [
  'DELETE FROM deletion_name WHERE repository_id', // ends with a crawl
  'UPDATE deletion_name SET repository_id', // named before the repository's number was known
  'FROM deletion_name JOIN directory_key', // the same
  'UPDATE claim SET released_at', // an operator's, by hand
  'SELECT count(*) AS open', // the queue, for the metrics
];

test('no statement of a service reads the whole of a table that grows, whatever the planner knows of it', () => {
  using folder = scratchFolder('plans');
  const file = path.join(folder.path, 'statements');
  execFileSync(
    process.execPath,
    ['--import', RECORDER, 'test/simulation/worker.ts', '--work', HISTORIES],
    { env: { ...process.env, STATEMENTS_FILE: file } },
  );
  const statements = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as string);
  using handle = opened(inject('migratedStore'));
  const planned = statements.filter((sql) => isPlannable(handle, sql));
  expect(planned.length).toBeGreaterThan(60);
  const scans = planned
    .filter((sql) => !SWEEPS.some((part) => sql.replaceAll(/\s+/g, ' ').includes(part)))
    .flatMap((sql) => scansOf(handle, sql).map((scan) => `${scan}: ${sql}`));
  expect(scans).toEqual([]);
});

function opened(file: string): SqliteDatabase.Database & Disposable {
  const handle = new SqliteDatabase(file, { readonly: true });
  return Object.assign(handle, { [Symbol.dispose]: () => void handle.close() });
}

function isPlannable(handle: SqliteDatabase.Database, sql: string): boolean {
  if (!/^\s*(?:WITH|SELECT|INSERT|UPDATE|DELETE)/.test(sql)) return false;
  const tables = handle.prepare<[], string>('SELECT name FROM sqlite_schema').pluck().all();
  return tables.some((table) => new RegExp(String.raw`\b${table}\b`).test(sql));
}

/** A foreign key that nothing waits for is not looked at: that row of a plan is passed over in an `INSERT`. */
function scansOf(handle: SqliteDatabase.Database, sql: string): string[] {
  const count = sql.match(/\?/g)?.length ?? 0;
  const names = Array.from(sql.matchAll(/@(\w+)/g), ([, name]) => [name, null]);
  const plan = handle.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`);
  const rows =
    count > 0 ? plan.all(...Array(count).fill(null)) : plan.all(Object.fromEntries(names));
  const details = rows.map(({ detail }) => detail);
  const made = new Set(details.map((detail) => MADE.exec(detail)?.[1]));
  return details.filter((detail) => {
    const [, name = ''] = SCAN.exec(detail) ?? [];
    if (name === 'same_event' && /^\s*INSERT INTO event\b/.test(sql)) return false;
    return name !== '' && !SMALL.has(name) && !made.has(name);
  });
}

/** By its alias. Not what is only looked into for a first row, and not a list of the caller. */
const SCAN = /^SCAN (\w+)\b(?! EXISTS| VIRTUAL TABLE| ROW)/;
/** Results of the statement itself. */
const MADE = /^(?:CO-ROUTINE|MATERIALIZE) (\w+)/;
