/**
 * How one statement is run on a connection. What a connection has prepared runs for less than the driver
 * takes: the server need not describe the columns again, which stay as they are while a statement is
 * prepared, and the driver need not read the description.
 */
import pg from 'pg';
import { sha256Hex } from '#shared/crypto/hash.ts';
import { toCamelCase, type Values } from '../../store/session.ts';
import { createPipeline } from './pipeline.ts';

/** A statement as the server takes it. */
export type Statement = {
  /** Under which the server keeps it prepared; undefined: it does not. */
  name?: string;
  /** With `$1`, `$2`, … */
  text: string;
  /** Names of the parameters, in the order of their numbers. */
  parameters: readonly string[];
};

/** Statements that are prepared at most, for each connection: those with filters are many. */
const PREPARED_MAX = 300;

/** 96 bits of a hash: a name is sent with every run of its statement. */
const NAME_LENGTH = 24;

/** `@name` stands for a value; `@@` and `@>` are operators. */
const PARAMETER = /(?<!@)@([a-z]\w*)/gi;

/**
 * Reads statements with named parameters, as every SQL text here is written, and names those that
 * are worth preparing. The name follows from the text: whoever prepared it, no other statement has it.
 */
export function createStatementReader(): (sql: string) => Statement {
  const known = new Map<string, Statement>();
  return (sql) => {
    const before = known.get(sql);
    if (before) return before;
    const statement = parse(sql);
    if (known.size >= PREPARED_MAX) return statement;
    const prepared = { ...statement, name: nameOf(statement.text) };
    known.set(sql, prepared);
    return prepared;
  };
}

function nameOf(text: string): string {
  return `trackport_${sha256Hex(text).slice(0, NAME_LENGTH)}`;
}

function parse(sql: string): Statement {
  const parameters: string[] = [];
  const text = sql.replaceAll(PARAMETER, (_match, name: string) => {
    if (!parameters.includes(name)) parameters.push(name);
    return `$${parameters.indexOf(name) + 1}`;
  });
  return { text, parameters };
}

/**
 * The values in the order of the parameters. PostgreSQL's text has no NUL: it becomes U+FFFD, in what
 * is written and in what is looked for alike.
 */
export function valuesOf({ parameters }: Statement, values: Values): unknown[] {
  return parameters.map((name) => {
    if (!(name in values)) throw new Error(`no value for @${name}`);
    return withoutNul(values[name] ?? null);
  });
}

function withoutNul(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNul);
  return typeof value === 'string' ? value.replaceAll('\0', '\uFFFD') : value;
}

/** What a statement gave: cells in the order of `names`, which are in camel case. */
export type Result = {
  names: readonly string[];
  rows: readonly (readonly unknown[])[];
  /** How many rows were changed, or read. */
  rowCount: number;
  /** What the server says that it did: `COMMIT`, `UPDATE`; with numbers behind it, or without. */
  tag: string;
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

export type StatementRunner = {
  /**
   * Those that are asked for together, before any of them is awaited, go to the server in one packet, and when
   * one of them fails all of them do. @throws what the driver throws
   */
  run(
    client: pg.ClientBase,
    statement: Pick<Statement, 'name' | 'text'>,
    values: unknown[],
  ): Promise<Result>;
  /** Whether what is run now goes in one packet with all that was asked for before. */
  canJoinPacket(client: pg.ClientBase): boolean;
};

/** What is known of one connection. */
type Connection = {
  pipeline: ReturnType<typeof createPipeline>;
  /** The columns of what it has prepared, by the statement's name. */
  prepared: Map<string, Columns>;
};

/** Remembers what each connection has prepared. */
export function createStatementRunner(): StatementRunner {
  const connections = new WeakMap<pg.ClientBase, Connection>();
  const connectionOf = (client: pg.ClientBase): Connection => {
    const known = connections.get(client);
    if (known) return known;
    const connection = { pipeline: createPipeline(client), prepared: new Map<string, Columns>() };
    connections.set(client, connection);
    return connection;
  };
  return {
    run: async (client, { name, text }, values) => {
      const { pipeline, prepared } = connectionOf(client);
      const columns = name === undefined ? undefined : prepared.get(name);
      if (name !== undefined && columns) {
        const bound = values.map(prepareValue); // what fails here must not fail when half of it is sent
        const { texts, tag } = await pipeline.add({ name, bound });
        const rows = texts.map((row) => toCells(row, columns));
        return { names: columns.names, rows, rowCount: rowCountOf(tag), tag };
      }
      const query = { name, text, values, rowMode: 'array' } as const;
      const result = await pipeline.alone(() => client.query<unknown[]>(query));
      const described = toColumns(result.fields);
      if (name !== undefined) prepared.set(name, described);
      const { rows, rowCount, command: tag } = result;
      return { names: described.names, rows, rowCount: rowCount ?? 0, tag };
    },
    canJoinPacket: (client) => connectionOf(client).pipeline.canJoinPacket(),
  };
}

function toColumns(fields: readonly pg.FieldDef[]): Columns {
  return {
    names: fields.map(({ name }) => toCamelCase(name)),
    parsers: fields.map(({ dataTypeID }) => types.getTypeParser(dataTypeID, 'text')),
  };
}

/** Exported by the driver, but its types do not know it. */
const { prepareValue } = (
  pg as unknown as { utils: { prepareValue: (value: unknown) => string | Buffer | null } }
).utils;

function toCells(texts: readonly (string | null)[], { parsers }: Columns): unknown[] {
  return texts.map((text, at) => (text === null ? null : parsers[at]?.(text)));
}

/** `INSERT 0 3`, `UPDATE 3`, `SELECT 3`: the last number; others have none. */
function rowCountOf(tag: string): number {
  return Number(/\d+$/.exec(tag)?.[0] ?? 0);
}
