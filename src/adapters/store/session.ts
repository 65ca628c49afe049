import { TrackportError } from '#shared/errors.ts';

/** What every store works on, whatever engine it is on. */

/** Values by the name of their parameter; undefined is NULL. Those that a statement does not name are passed over. */
export type Values = Readonly<Record<string, unknown>>;

/**
 * Runs statements with named parameters (`@name`), written as PostgreSQL has them; SQLite's dialect reads the
 * same text. The columns of rows come in camel case, and a row lacks those that are NULL. Every call throws `store-unavailable` when the store
 * fails. In a transaction on PostgreSQL, those that are asked for before any of them is awaited
 * (`Promise.all`) take one way to the server, in their order, and fail together.
 */
export type Session = {
  all<Row>(sql: string, values?: Values): Promise<Row[]>;
  /** The first row. */
  get<Row>(sql: string, values?: Values): Promise<Row | undefined>;
  /** Returns how many rows were changed. */
  run(sql: string, values?: Values): Promise<number>;
  /** Adds rows, their properties named as the columns in camel case; one that is missing is NULL. */
  insert(into: RowsInto, rows: readonly object[]): Promise<void>;
  /** Several statements without parameters, which may take as long as they need. */
  exec(sql: string): Promise<void>;
};

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

/** Writes in the transaction of the session. What it takes and answers is plain data. */
export type Write = {
  (session: Session, ...input: never[]): Promise<unknown>;
  /** Makes several of them in one go: one result for each of the inputs, in their order. */
  all?: (session: Session, inputs: never) => Promise<readonly unknown[]>;
};
export type Writes = Readonly<Record<string, Write>>;

/** A write of which several that come at the same time are made in one go. */
export function batched<In extends readonly unknown[], Out>(
  all: (session: Session, inputs: readonly In[]) => Promise<readonly Out[]>,
): ((session: Session, ...input: In) => Promise<Out>) & { all: typeof all } {
  const alone = async (session: Session, ...input: In): Promise<Out> => {
    const [result] = await all(session, [input]);
    return result as Out;
  };
  return Object.assign(alone, { all });
}

/** Where a write is found by whoever has its name alone: in `writesByName`. */
export type WriteName = { store: string; name: string };

export type CallWrite = (
  name: WriteName,
  write: Write,
  input: readonly unknown[],
) => Promise<unknown>;

export type StoreDatabase = Session & {
  /**
   * Calls `onNotified` after each NOTIFY on the channel, and whenever one may have been missed. Close it before
   * the database.
   */
  listen(channel: string, onNotified: () => void): Listening;
  readonly writer: {
    /**
     * Runs a function in a transaction of its own and resolves once it is committed. Rejects with what it threw,
     * and then it changed nothing. On SQLite it runs in the thread that writes.
     * @throws {store-unavailable} nothing was committed
     */
    call: CallWrite;
    /**
     * The same for what writes events, claims or the lead directory. Whoever does takes turns with all others,
     * of every instance: what is read cannot change before the commit, and changes come into the lead feed in the
     * order in which they are committed. Those that wait for their turn share the next transaction.
     */
    callExclusive: CallWrite;
  };
  /** Another number whenever anybody may have committed something since the last one. Cheap. @throws {store-unavailable} */
  dataVersion(): Promise<number>;
  /** Takes what was deleted out of every file of the store. False: not now, try again. */
  truncateWal(): Promise<boolean>;
};

/** Idempotent. */
export type Listening = { close(): Promise<void> };

type Bound<W extends Writes> = {
  [Name in keyof W]: W[Name] extends (session: Session, ...input: infer In) => infer Out
    ? (...input: In) => Out
    : never;
};

/** The functions of a store, each a call of its own. `store` is their name in `writesByName`. */
export function bindWrites<W extends Writes>(call: CallWrite, store: string, writes: W): Bound<W> {
  const bound = Object.entries(writes).map(([name, write]) => [
    name,
    (...input: readonly unknown[]) => call({ store, name }, write, input),
  ]);
  return Object.fromEntries(bound) as Bound<W>;
}

/** Where the engines have different words for the same. It holds no other `either`. */
export function either(postgres: string, sqlite: string): string {
  return `/*postgres*/${postgres}/*sqlite ${sqlite}*/`;
}

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

/** What the JSON of PostgreSQL has no room for: NUL, and half a surrogate pair. */
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

/** That a store cannot do what it should: `detail` is public, `cause` what its driver or the file system said. */
export function unavailable(detail: string, cause?: unknown): TrackportError {
  return new TrackportError('store-unavailable', { detail, retryAfterSeconds: 1, cause });
}

/** A store that no later try will open: somebody has to name another one, or to stop who has it. */
export class StoreRefusal extends TrackportError {
  constructor(detail: string) {
    super('store-unavailable', { detail });
  }
}

export const BUSY = 'The store is busy with another process.';
