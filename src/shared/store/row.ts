/** The row of an object whose columns are called as its properties: what can be absent is null. */
export type RowOf<T> = {
  [Name in keyof T]-?: object extends Pick<T, Name> ? T[Name] | null : T[Name];
};

/** An object with those of the row's columns that are not null. A loop: every row that is read passes here. */
export function present(row: object): object {
  const columns = row as Record<string, unknown>;
  const found: Record<string, unknown> = {};
  for (const name in columns) if (columns[name] !== null) found[name] = columns[name];
  return found;
}
