/** Statements as the driver takes them, and what it makes of values. */
import pg from 'pg';
import { sha256Hex } from '#shared/crypto/hash.ts';
import { PARAMETER } from '#shared/sql.ts';
import { parametersOf, PREPARED_MAX } from '../../statements.ts';

/** A statement as the server takes it. */
export type Statement = {
  /** Under which the server keeps it prepared; undefined: it does not. */
  name?: string;
  /** With `$1`, `$2`, … */
  text: string;
};

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
    const text = numbered(sql);
    if (known.size >= PREPARED_MAX) return { text };
    const prepared = { text, name: `trackport_${sha256Hex(text).slice(0, NAME_LENGTH)}` };
    known.set(sql, prepared);
    return prepared;
  };
}

function numbered(sql: string): string {
  const names = parametersOf(sql);
  return sql.replaceAll(PARAMETER, (_match, name: string) => `$${names.indexOf(name) + 1}`);
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
