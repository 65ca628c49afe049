/** What a column holds, whatever its engine makes of it. JSON is text with its members in order. */
export type ColumnKind = 'number' | 'boolean' | 'text' | 'texts' | 'json' | 'bytes';

/** A table as both engines have it. */
export type Table = {
  /** In the order in which rows can be inserted: whoever refers to another comes after it. */
  name: string;
  /** Those that are stored, in camel case; generated ones follow from them. */
  columns: readonly { name: string; kind: ColumnKind }[];
  /** Columns of the primary key, by which two stores read it in the same order. */
  key: readonly string[];
};

export type Value = null | number | boolean | string | readonly string[] | Buffer;

/** The values of the table's columns. */
export type Row = readonly Value[];

/** A store that nobody works on, to be read. Every call throws `store-unavailable` when it fails. */
export type ReadableStore = {
  count(table: Table): Promise<number>;
  /** All rows in the order of the key, some at a time. */
  read(table: Table): AsyncIterable<readonly Row[]>;
  /** The greatest number that was ever given out, by table, where none is given twice. */
  lastNumbers(): Promise<ReadonlyMap<string, number>>;
};

/** An empty store to be filled. */
export type FillableStore = ReadableStore & {
  insert(table: Table, rows: readonly Row[]): Promise<void>;
  /** What follows from the rows, once all are there: the full text, and the next numbers. */
  complete(lastNumbers: ReadonlyMap<string, number>): Promise<void>;
};

/** JSON text with the members of its objects in order, so that equal values are equal texts. */
export function canonicalJson(text: string): string {
  return JSON.stringify(JSON.parse(text, (_name, value: unknown) => inOrder(value)));
}

function inOrder(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const members = Object.entries(value);
  return Object.fromEntries(members.toSorted(([left], [right]) => (left < right ? -1 : 1)));
}
