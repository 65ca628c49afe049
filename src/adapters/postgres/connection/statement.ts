/** Statements as the driver takes them, and what it makes of values. */
import pg from 'pg';
import { sha256Hex } from '#shared/crypto/hash.ts';
import type { Values } from '#shared/database.ts';
import { PARAMETER } from '#shared/sql.ts';

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
    const prepared = {
      ...statement,
      name: `trackport_${sha256Hex(statement.text).slice(0, NAME_LENGTH)}`,
    };
    known.set(sql, prepared);
    return prepared;
  };
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
export function valuesOf(parameters: Statement['parameters'], values: Values): unknown[] {
  return parameters.map((name) => {
    if (!(name in values)) throw new Error(`no value for @${name}`);
    return withoutNul(values[name] ?? null);
  });
}

function withoutNul(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNul);
  return typeof value === 'string' ? value.replaceAll('\0', '\uFFFD') : value;
}

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
