/**
 * How one statement is run on a connection. What a connection has prepared runs for less than the driver
 * takes: the server need not describe the columns again, which stay as they are while a statement is
 * prepared, and the driver need not read the description.
 */
import pg from 'pg';
import type { Statement, Value } from './statement.ts';
import { toCamelCase } from './statement.ts';

/** What a statement gave: cells in the order of `names`, which are in camel case. */
export type Result = {
  names: readonly string[];
  rows: readonly (readonly unknown[])[];
  /** How many rows were changed, or read. */
  rowCount: number;
};

const INT8 = 20;
const JSON_TYPES: ReadonlySet<number> = new Set([114, 3802]);

/** Instants and counts are numbers; JSON stays text, as it is read by whoever stored it. */
export const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (oid === INT8) return Number;
    if (JSON_TYPES.has(oid)) return (text: string) => text;
    return pg.types.getTypeParser(oid, format);
  }) as typeof pg.types.getTypeParser,
};

type Columns = {
  names: readonly string[];
  parsers: readonly ((text: string) => unknown)[];
};

export type RunStatement = (
  client: pg.ClientBase,
  statement: Pick<Statement, 'name' | 'text'>,
  values: Value[],
) => Promise<Result>;

/** Remembers what each connection has prepared. What it makes throws what the driver throws. */
export function createStatementRunner(): RunStatement {
  /** The columns of what a connection has prepared, by the statement's name. */
  const prepared = new WeakMap<pg.ClientBase, Map<string, Columns>>();
  return async (client, { name, text }, values) => {
    const columns = name === undefined ? undefined : prepared.get(client)?.get(name);
    if (name !== undefined && columns) return runAgain(client, { name, values }, columns);
    const query = { ...(name !== undefined && { name }), text, values, ...asArrays };
    const result = await client.query<unknown[]>(query);
    const described = toColumns(result.fields);
    if (name !== undefined) {
      const ofClient = prepared.get(client) ?? new Map<string, Columns>();
      prepared.set(client, ofClient.set(name, described));
    }
    return { names: described.names, rows: result.rows, rowCount: result.rowCount ?? 0 };
  };
}

const asArrays = { rowMode: 'array' } as const;

function toColumns(fields: readonly pg.FieldDef[]): Columns {
  return {
    names: fields.map(({ name }) => toCamelCase(name)),
    parsers: fields.map(({ dataTypeID }) => types.getTypeParser(dataTypeID, 'text')),
  };
}

/** Exported by the driver, but its types do not know it. */
const { prepareValue } = (
  pg as unknown as { utils: { prepareValue: (value: Value) => string | Buffer | null } }
).utils;

/** What the server sent: the texts of the rows, and what it did (`UPDATE 3`). */
type Response = { texts: (readonly (string | null)[])[]; tag: string };

/** What the driver's client calls on a query that is not of its own class, as those of `pg-cursor`. */
type DriverQuery = pg.Submittable & {
  /** The client puts its time limit around it. */
  callback: (error: Error | undefined) => void;
  handleDataRow(message: { fields: readonly (string | null)[] }): void;
  handleCommandComplete(message: { text: string }): void;
  handleReadyForQuery(): void;
  handleError(error: Error): void;
};

async function runAgain(
  client: pg.ClientBase,
  { name, values }: { name: string; values: Value[] },
  columns: Columns,
): Promise<Result> {
  const bound = values.map(prepareValue); // what fails here must not fail when half of it is sent
  const { texts, tag } = await new Promise<Response>((resolve, reject) => {
    const response: Response = { texts: [], tag: '' };
    const query: DriverQuery = {
      callback: (error) => (error ? reject(error) : resolve(response)),
      submit: (connection) => send(connection, name, bound),
      handleDataRow: ({ fields }) => void response.texts.push(fields),
      handleCommandComplete: ({ text }) => {
        response.tag = text;
      },
      handleReadyForQuery: () => query.callback(undefined),
      handleError: (error) => query.callback(error),
    };
    client.query(query);
  });
  const rows = texts.map((row) => toCells(row, columns));
  return { names: columns.names, rows, rowCount: rowCountOf(tag) };
}

/** All in one packet. */
function send(
  connection: pg.Connection,
  statement: string,
  values: (string | Buffer | null)[],
): void {
  const { stream } = connection;
  stream.cork();
  connection.bind({ statement, values }, false);
  connection.execute(null, false);
  connection.sync();
  stream.uncork();
}

function toCells(texts: readonly (string | null)[], { parsers }: Columns): unknown[] {
  return texts.map((text, at) => (text === null ? null : parsers[at]?.(text)));
}

/** `INSERT 0 3`, `UPDATE 3`, `SELECT 3`: the last number; others have none. */
function rowCountOf(tag: string): number {
  return Number(/\d+$/.exec(tag)?.[0] ?? 0);
}
