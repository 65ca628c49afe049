/** Translates statements that are written for PostgreSQL into SQLite's words. */

type Rule = readonly [pattern: RegExp, replacement: string];

/**
 * A comment that begins with `sqlite` is for this engine alone: an index that has to be used, a plus that
 * keeps a plan. So is the latter half of what `either` gives. One writer at a time needs no locks of rows.
 */
const RULES: readonly Rule[] = [
  [/\/\*postgres\*\/.*?\/\*sqlite (.*?)\*\//gs, '$1'],
  [/\/\*sqlite (.*?)\*\//gs, '$1'],
  [/\bFOR (?:NO KEY )?(?:UPDATE|KEY SHARE)(?: OF \w+)?(?: SKIP LOCKED)?/g, ''],
  [/= ANY\((@\w+)(?:::\w+\[\])?\)/g, 'IN (SELECT value FROM json_each($1))'],
  [
    /([\w.]+) @> ([@\w.]+)(?:::jsonb)?/g,
    'NOT EXISTS (SELECT 1 FROM json_each($2) AS wanted WHERE wanted.value NOT IN (SELECT value FROM json_each($1)))',
  ],
  [/^NOTIFY \w+$/g, 'SELECT 1'],
  [/= true\b/g, '= 1'],
  [/\barray_to_tsvector\(string_to_array\(([@.\w]+), ' '\)\)/g, '$1'],
  [/\bgreatest\(/g, 'max('],
  [/\bleast\(/g, 'min('],
  [/\bjsonb_array_elements_text\(/g, 'json_each('],
  [/\bjsonb_array_length\(/g, 'json_array_length('],
  [/\bjsonb_agg\(/g, 'json_group_array('],
  [/\bjsonb_build_object\(/g, 'json_object('],
  [/::\w+(?:\[\])?/g, ''],
];

const ROWS = /jsonb_to_recordset\((@\w+)\)\s+AS (\w+)\s+\(([^)]*)\)/g;

/** Turns a statement of PostgreSQL into SQLite's words. */
export function toSqlite(sql: string): string {
  return RULES.reduce((text, [pattern, by]) => text.replaceAll(pattern, by), sql).replaceAll(
    ROWS,
    (_match, parameter: string, name: string, columns: string) =>
      `(SELECT ${columns.split(',').map(toCell).join(', ')} FROM jsonb_each(${parameter})) AS ${name}`,
  );
}

/** Bytes are hexadecimal digits behind `\x`. */
function toCell(column: string): string {
  const [name = '', type] = column.trim().split(/\s+/);
  const cell = `value ->> '${name}'`;
  return `${type === 'bytea' ? `unhex(substr(${cell}, 3))` : cell} AS ${name}`;
}
