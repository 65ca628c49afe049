/** Texts of statements, and values as they take them. */

/** A table that gets rows: what PostgreSQL takes all of them with, and SQLite each. */
export type RowsInto = { all: string; one: string; properties: readonly string[] };

/** `columns` are those of `jsonb_to_recordset` (`id bigint, payload bytea`). Rows go in by the first of them. */
export function rowsInto(table: string, columns: string): RowsInto {
  const names = columns.split(',').map((column) => column.trim().replace(/ .*/, ''));
  const into = `INSERT INTO ${table} (${names.join(', ')})`;
  return {
    all: `${into} SELECT ${names.join(', ')} FROM jsonb_to_recordset(@rows) AS given (${columns})
      ORDER BY ${names[0]}`,
    one: `${into} VALUES (${names.map(() => '?').join(', ')})`,
    properties: names.map(toCamelCase),
  };
}

/** `@name` stands for a value; `@@` and `@>` are operators. */
export const PARAMETER = /(?<!@)@([a-z]\w*)/gi;

/** Text for one engine or the other, where they have different words for the same. It holds no other `either`. */
export function either(postgres: string, sqlite: string): string {
  return `/*postgres*/${postgres}/*sqlite ${sqlite}*/`;
}

/**
 * Names the server and the tables that the versions are of: another text after a restart, a failover or a
 * restored backup. The data may then be older than what was read before, and a version that was seen already may
 * stand for other claims. SQLite needs none: a file cannot be replaced while it is open.
 */
export const SERVER_IDENTITY = either(
  `(SELECT concat_ws(' ', extract(epoch FROM pg_postmaster_start_time()), oid, 'claim_version'::regclass::oid)
    FROM pg_database WHERE datname = current_database())`,
  "''",
);

/** Advisory locks on PostgreSQL, each by its own number behind the one that all of Trackport's have. */
export const advisoryLocks = {
  /** Migrators take turns. */
  migrations: '1953653099, 1',
  /** Whoever writes events, claims or the lead directory takes it. @see Database.exclusive */
  exclusive: '1953653099, 2',
  /** Batches of changes are committed in the order of their positions. */
  changes: '1953653099, 3',
} as const;

/** `received_at` → `receivedAt`. */
export function toCamelCase(column: string): string {
  return column.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}

/** Objects as `jsonb_to_recordset` reads them, their properties as columns. */
export function toRecords(rows: readonly object[]): string {
  const records = rows.map(toRecord);
  const text = JSON.stringify(records);
  return STRANGE.test(text) ? JSON.stringify(records, toPlainText) : text;
}

function toRecord(row: object): object {
  const record: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(row)) record[toSnakeCase(name)] = toJsonValue(value);
  return record;
}

/** Bytes are a text that PostgreSQL reads as bytes. */
function toJsonValue(value: unknown): unknown {
  return Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : value;
}

/** NUL and half a surrogate pair: the JSON of PostgreSQL takes neither. */
const STRANGE = /\\u(?:0000|d[89a-f])/;

function toPlainText(_name: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\uFFFD') : value;
}

/** For the parameter of a column that holds JSON, or nothing. */
export function toJson(value: object | null | undefined): string | undefined {
  return value == null ? undefined : JSON.stringify(value);
}

const snakeCase = new Map<string, string>();

/** `receivedAt` → `received_at`. */
function toSnakeCase(name: string): string {
  const before = snakeCase.get(name);
  if (before !== undefined) return before;
  const made = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  snakeCase.set(name, made);
  return made;
}
