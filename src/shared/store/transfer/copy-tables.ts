import { TrackportError } from '../../errors.ts';
import type { OnProgress } from '../../progress.ts';
import { createTableDigest } from './digest.ts';
import type { TableDigest } from './digest.ts';
import type { FillableStore, ReadableStore, Table } from './table.ts';

export type CopyRequest = {
  source: ReadableStore;
  /** Empty. */
  target: FillableStore;
  /** In the order in which rows can be inserted. */
  tables: readonly Table[];
  /** Told of rows that were copied, and then of those that were compared. */
  onProgress: OnProgress;
};

/**
 * Copies the tables, and compares what was written with what was read.
 * @throws {store-unavailable} also when the copy is not as the source is
 */
export async function copyTables(request: CopyRequest): Promise<TableDigest[]> {
  const { source, target, tables } = request;
  const advance = await startProgress(request);
  const copied: TableDigest[] = [];
  for (const table of tables) {
    const digest = createTableDigest(table.name);
    for await (const rows of source.read(table)) {
      for (const row of rows) digest.add(row);
      await target.insert(table, rows);
      advance(rows.length, `copying ${table.name}`);
    }
    copied.push(digest.end());
  }
  await target.complete(await source.lastNumbers());
  for (const [at, table] of tables.entries())
    if (!isSame(await digestOf(target, table, advance), copied[at])) refuseCopy(table.name);
  return copied;
}

type Advance = (rows: number, atHand: string) => void;

async function startProgress({ source, tables, onProgress }: CopyRequest): Promise<Advance> {
  let total = 0;
  for (const table of tables) total += 2 * (await source.count(table));
  let done = 0;
  return (rows, atHand) => {
    done += rows;
    onProgress(done, total, 'rows', atHand);
  };
}

async function digestOf(
  store: ReadableStore,
  table: Table,
  advance: Advance,
): Promise<TableDigest> {
  const digest = createTableDigest(table.name);
  for await (const rows of store.read(table)) {
    for (const row of rows) digest.add(row);
    advance(rows.length, `comparing ${table.name}`);
  }
  return digest.end();
}

function isSame(one: TableDigest, other: TableDigest | undefined): boolean {
  return one.rows === other?.rows && one.sha256 === other.sha256;
}

function refuseCopy(table: string): never {
  throw new TrackportError('store-unavailable', {
    detail: `The copy is not as the original is (${table}), and was dropped.`,
  });
}
