import { createHash, type Hash } from 'node:crypto';

/** Digest of a table: the same for two of the same content. */
export type TableDigest = { table: string; rows: number; sha256: string };

/** One stored value of a row. */
type Digestible = null | bigint | number | boolean | string | Buffer;

/** Digests a table whose rows come one after the other, in an order that two stores agree on. */
export function createTableDigest(table: string) {
  const hash = createHash('sha256');
  let rows = 0;
  return {
    add: (row: readonly Digestible[]): void => {
      addRow(hash, row);
      rows += 1;
    },
    /** To be called once. */
    end: (): TableDigest => ({ table, rows, sha256: hash.digest('hex') }),
  };
}

/** The texts of neighbours go together: each update has a price of its own. */
function addRow(hash: Hash, row: readonly Digestible[]): void {
  let text = '';
  for (const value of row) {
    if (!Buffer.isBuffer(value)) text += encode(value);
    else {
      hash.update(`${text}b${value.length}:`).update(value);
      text = '';
    }
  }
  hash.update(text);
}

/** Type and length go first, so that no two rows give the same bytes. */
function encode(value: Exclude<Digestible, Buffer>): string {
  if (value === null) return 'n;';
  if (typeof value === 'bigint') return `i${value};`;
  if (typeof value === 'number') return `r${value};`;
  if (typeof value === 'boolean') return `o${value};`;
  return `t${Buffer.byteLength(value)}:${value}`;
}
