import { TrackportError } from '../../errors.ts';
import type { Table } from './table.ts';

/** A table's name and the names of its columns. */
export type TableShape = { name: string; columns: readonly string[] };

/**
 * Holds two engines' schemas of the same version against each other, so that no table and no column is
 * left behind. @throws {bad-request} they differ: somebody else made a table or a column there
 */
export function refuseDifference(tables: readonly Table[], shapes: readonly TableShape[]): void {
  const here = tables.flatMap(({ name, columns }) =>
    namesOf(
      name,
      columns.map(({ name }) => name),
    ),
  );
  const there = shapes.flatMap(({ name, columns }) => namesOf(name, columns));
  const different = [
    ...here.filter((name) => !there.includes(name)),
    ...there.filter((name) => !here.includes(name)),
  ];
  if (different.length > 0)
    throw new TrackportError('bad-request', {
      detail: `Only one of the stores has ${different.join(', ')}: a copy would lose it. What Trackport did not make has to be moved out, on PostgreSQL to another schema.`,
    });
}

function namesOf(table: string, columns: readonly string[]): string[] {
  return [table, ...columns.map((column) => `${table}.${column}`)];
}
