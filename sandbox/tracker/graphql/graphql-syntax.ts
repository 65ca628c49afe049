/**
 * The part of GraphQL's grammar that clients of issues write: one operation with arguments,
 * variables, aliases and inline fragments. @see https://spec.graphql.org/October2021/
 */

export type Field = {
  name: string;
  /** The key in the answer: the alias, else the name. */
  key: string;
  args: Record<string, unknown>;
  fields: readonly Field[] | undefined;
};

export type Operation = { kind: 'query' | 'mutation'; fields: readonly Field[] };

type Reader = { tokens: string[]; at: number; variables: Readonly<Record<string, unknown>> };

const TOKEN =
  /\s+|,|#[^\n\r]*|\.\.\.|[!$():=@[\]{|}]|"(?:[^"\\\n]|\\.)*"|[A-Za-z_]\w*|-?\d+(?:\.\d+)?/gy;

/** @throws SyntaxError for a text outside that part of the grammar */
export function parseOperation(
  text: string,
  variables: Readonly<Record<string, unknown>>,
): Operation {
  const reader: Reader = { tokens: tokensOf(text), at: 0, variables };
  const first = peek(reader);
  if (first === '{') return { kind: 'query', fields: readFields(reader) };
  if (first !== 'query' && first !== 'mutation') throw unexpected(reader);
  reader.at += 1;
  if (/^\w/.test(peek(reader))) reader.at += 1;
  if (peek(reader) === '(') skipVariableDefinitions(reader);
  return { kind: first, fields: readFields(reader) };
}

function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const start = TOKEN.lastIndex;
    const token = TOKEN.exec(text)?.[0];
    if (token === undefined)
      throw new SyntaxError(`Parse error on ${JSON.stringify(text.slice(start, start + 10))}`);
    if (!/^[\s,#]/.test(token)) tokens.push(token);
  }
  return tokens;
}

function peek(reader: Reader): string {
  return reader.tokens[reader.at] ?? '';
}

function take(reader: Reader, wanted?: string): string {
  const token = peek(reader);
  if (token === '' || (wanted !== undefined && token !== wanted)) throw unexpected(reader);
  reader.at += 1;
  return token;
}

function unexpected(reader: Reader): SyntaxError {
  return new SyntaxError(`Parse error on ${JSON.stringify(peek(reader))}`);
}

/** What a variable is declared as does not matter here: its value is taken as it comes. */
function skipVariableDefinitions(reader: Reader): void {
  while (take(reader) !== ')');
}

function readFields(reader: Reader): Field[] {
  const fields: Field[] = [];
  take(reader, '{');
  while (peek(reader) !== '}') {
    if (peek(reader) === '...') fields.push(...readFragment(reader));
    else fields.push(readField(reader));
  }
  take(reader, '}');
  return fields;
}

/** Every object here has one type only, so that a fragment's condition decides nothing. */
function readFragment(reader: Reader): Field[] {
  take(reader, '...');
  if (peek(reader) === 'on') {
    take(reader);
    take(reader);
  }
  return readFields(reader);
}

function readField(reader: Reader): Field {
  const first = readName(reader);
  const isAlias = peek(reader) === ':';
  if (isAlias) take(reader);
  const name = isAlias ? readName(reader) : first;
  const args = peek(reader) === '(' ? readPairs(reader, '(', ')') : {};
  const fields = peek(reader) === '{' ? readFields(reader) : undefined;
  return { name, key: first, args, fields };
}

function readName(reader: Reader): string {
  if (/^[A-Za-z_]/.test(peek(reader))) return take(reader);
  throw unexpected(reader);
}

function readPairs(reader: Reader, open: string, close: string): Record<string, unknown> {
  const pairs: Record<string, unknown> = {};
  take(reader, open);
  while (peek(reader) !== close) {
    const name = readName(reader);
    take(reader, ':');
    pairs[name] = readValue(reader);
  }
  take(reader, close);
  return pairs;
}

const CONSTANTS = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

function readValue(reader: Reader): unknown {
  const token = peek(reader);
  if (token === '{') return readPairs(reader, '{', '}');
  if (token === '[') return readList(reader);
  take(reader);
  if (token === '$') return reader.variables[readName(reader)];
  if (token.startsWith('"')) return JSON.parse(token) as unknown;
  if (/^-?\d/.test(token)) return Number(token);
  return CONSTANTS.has(token) ? CONSTANTS.get(token) : token;
}

function readList(reader: Reader): unknown[] {
  const values: unknown[] = [];
  take(reader, '[');
  while (peek(reader) !== ']') values.push(readValue(reader));
  take(reader, ']');
  return values;
}
