/** What every store works on, whatever engine it is on. */

/** Values by the name of their parameter. Those that a statement does not name are passed over. */
export type Values = Readonly<Record<string, unknown>>;

/**
 * Runs statements with named parameters (`@name`), written as PostgreSQL has them; SQLite's dialect reads the
 * same text. The columns of rows come in camel case. Every call throws `store-unavailable` when the store
 * fails. In a transaction on PostgreSQL, those that are asked for before any of them is awaited
 * (`Promise.all`) take one way to the server, in their order, and fail together.
 */
export type Session = {
  all<Row>(sql: string, values?: Values): Promise<Row[]>;
  /** The first row. */
  get<Row>(sql: string, values?: Values): Promise<Row | undefined>;
  /** Returns how many rows were changed. */
  run(sql: string, values?: Values): Promise<number>;
  /** Several statements without parameters, which may take as long as they need. */
  exec(sql: string): Promise<void>;
};

/** Writes in the transaction of the session. What it takes and answers is plain data. */
type Write = (session: Session, ...input: never[]) => Promise<unknown>;
export type Writes = Readonly<Record<string, Write>>;

/** Where a write is found by whoever has its name alone: in `everyWrite`. */
export type WriteName = { store: string; name: string };

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
    call(name: WriteName, write: Write, input: readonly unknown[]): Promise<unknown>;
  };
};

/** Idempotent. */
export type Listening = { close(): Promise<void> };

type Bound<W extends Writes> = {
  [Name in keyof W]: W[Name] extends (session: Session, ...input: infer In) => infer Out
    ? (...input: In) => Out
    : never;
};

/** The functions of a store, each in a transaction of its own. `store` is their name in `everyWrite`. */
export function bindWrites<W extends Writes>(
  { writer }: Pick<StoreDatabase, 'writer'>,
  store: string,
  writes: W,
): Bound<W> {
  const bound = Object.entries(writes).map(([name, write]) => [
    name,
    (...input: readonly unknown[]) => writer.call({ store, name }, write, input),
  ]);
  return Object.fromEntries(bound) as Bound<W>;
}

/** `received_at` → `receivedAt`. */
export function toCamelCase(column: string): string {
  return column.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}

/** Objects as `jsonb_to_recordset` reads them, their properties as columns. */
export function toRecords(rows: readonly object[]): string {
  const toRecord = (row: object): object =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [toSnakeCase(name), value]));
  return JSON.stringify(rows.map(toRecord));
}

/** `receivedAt` → `received_at`. */
export function toSnakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
