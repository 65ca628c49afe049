/** How SQLite reads statements that are written for PostgreSQL. */

type Rule = readonly [pattern: RegExp, replacement: string];

/**
 * What is written between `/*sqlite` and its end is for this engine alone: an index that has to be used, a
 * plus that keeps a plan. One writer at a time needs no locks of rows.
 */
const RULES: readonly Rule[] = [
  [/\/\*sqlite (.*?)\*\//gs, '$1'],
  [/\bFOR (?:NO KEY )?(?:UPDATE|KEY SHARE)(?: OF \w+)?(?: SKIP LOCKED)?/g, ''],
  [/= ANY\((@\w+)(?:::\w+\[\])?\)/g, 'IN (SELECT value FROM json_each($1))'],
  [/\bSELECT pg_advisory_xact_lock\(.*?\)|^NOTIFY \w+$/g, 'SELECT 1'],
  [/= true\b/g, '= 1'],
  [/\barray_to_tsvector\(string_to_array\(([@.\w]+), ' '\)\)/g, '$1'],
  [/\bgreatest\(/g, 'max('],
  [/\bleast\(/g, 'min('],
  [/::\w+(?:\[\])?/g, ''],
];

const ROWS = /jsonb_to_recordset\((@\w+)\)\s+AS (\w+)\s+\(([^)]*)\)/g;

/** The same statement in SQLite's words. */
export function toSqlite(sql: string): string {
  return RULES.reduce((text, [pattern, by]) => text.replaceAll(pattern, by), sql).replaceAll(
    ROWS,
    (_match, parameter: string, name: string, columns: string) => {
      const cells = columns
        .split(',')
        .map((column) => column.trim().split(' ')[0])
        .map((column) => `value ->> '${column}' AS ${column}`);
      return `(SELECT ${cells.join(', ')} FROM json_each(${parameter})) AS ${name}`;
    },
  );
}
