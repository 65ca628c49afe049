/** How one statement is run on a connection. */
import pg from 'pg';
import type { Statement, Value } from './statement.ts';
import { toCamelCase } from '../../store/session.ts';

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

/**
 * Those that are asked for before any of them is awaited go to the server in one packet, each with a Sync of its
 * own: by the driver's `pipeline`, which costs many deliveries at once what a packet of our own cost (30 µs each
 * of a hundred), and one alone a third more. @throws what the driver throws
 */
export async function runStatement(
  client: pg.ClientBase,
  { name, text }: Pick<Statement, 'name' | 'text'>,
  values: Value[],
): Promise<Result> {
  gather(client as pg.Client);
  const query = { ...(name !== undefined && { name }), text, values, rowMode: 'array' as const };
  const { fields, rows, rowCount, command: tag } = await client.query<unknown[]>(query);
  const names = fields.map((field) => toCamelCase(field.name));
  return { names, rows, rowCount: rowCount ?? 0, tag };
}

/** The driver would write each statement by itself. */
function gather({ connection: { stream } }: pg.Client): void {
  if (stream.writableCorked > 0) return;
  stream.cork();
  queueMicrotask(() => stream.uncork());
}
