/** The row of an object whose columns are called as its properties: what can be absent is null. */
export type RowOf<T> = {
  [Name in keyof T]-?: object extends Pick<T, Name> ? T[Name] | null : T[Name];
};

/** An object with those of the row's columns that are not null. */
export function present(row: object): object {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
}
