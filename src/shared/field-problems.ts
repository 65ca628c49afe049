import { z } from 'zod';
import type { FieldProblem } from './errors.ts';
import { escapePointer, lookUp } from './text/json.ts';
import { fold, nearMiss } from './text/near-miss.ts';

/** The parts of a request, as Fastify names their schemas. */
export type Part = 'params' | 'querystring' | 'headers' | 'body';

/** A part as it was given, with the schema that it was checked by. */
type Checked = { part: Part; schema: z.ZodType; given: unknown };

type Path = readonly PropertyKey[];

/** Of one part of a request. Who has more to mend than this sees the rest when it is mended. */
export const PROBLEMS_MAX = 100;
/** A longer name is not looked at, nor written into a pointer. */
const NAME_CHARACTERS_MAX = 256;

/** Parses one part by its schema, or tells all that is wrong with it: little more than `PROBLEMS_MAX`. */
export function checkFields<S extends z.ZodType>(
  schema: S,
  part: Part,
  given: unknown,
): { value: z.output<S> } | { problems: FieldProblem[] } {
  const result = schema.safeParse(given, { error: fieldWords });
  if (result.success) return { value: result.data };
  const issues = result.error.issues.slice(0, PROBLEMS_MAX + 1);
  return { problems: issues.flatMap((issue) => problemsOf({ part, schema, given }, issue)) };
}

/** An issue of a schema as one entry for each wrong place, but for little more than `PROBLEMS_MAX`. */
function problemsOf(checked: Checked, issue: z.core.$ZodIssue): FieldProblem[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys
      .slice(0, PROBLEMS_MAX + 1)
      .map((key) => unknownName(checked, [...issue.path, key]));
  const value = lookUp(checked.given, issue.path);
  if (Array.isArray(value) && checked.part === 'querystring')
    if (issue.code === 'invalid_type' || issue.code === 'invalid_value')
      return [fieldProblem(checked, issue.path, 'repeated', 'must be given only once')];
  if (value === undefined) return [fieldProblem(checked, issue.path, 'missing', 'is required')];
  return [fieldProblem(checked, issue.path, codeOf(issue), issue.message)];
}

function codeOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'too_small' || issue.code === 'too_big') return 'out-of-range';
  const given = issue.code === 'custom' ? (issue.params?.['code'] as unknown) : undefined;
  return typeof given === 'string' ? given : 'invalid';
}

function unknownName(checked: Checked, path: Path): FieldProblem {
  const name = String(path.at(-1));
  if (name.length > NAME_CHARACTERS_MAX) {
    const text = `has a name of more than ${NAME_CHARACTERS_MAX} characters, which is not known here`;
    return fieldProblem(checked, path, 'unknown', text);
  }
  const names = namesOf(schemaAt(checked.schema, path.slice(0, -1)));
  const meant = synonymIn(names, name) ?? nearMiss(name, names);
  const known = names.length > 0 ? ` Known here: ${names.map(quote).join(', ')}.` : '';
  const hint = meant === undefined ? known : ` Did you mean ${quote(meant)}?`;
  return fieldProblem(checked, path, 'unknown', `is not known here.${hint}`);
}

/** Names that other services give to the same thing. */
const synonyms: Readonly<Record<string, readonly string[]>> = {
  limit: ['perPage', 'pageSize', 'size', 'count', 'max', 'maxResults', 'first', 'top'],
  cursor: ['page', 'after', 'offset', 'start', 'next', 'nextCursor', 'pageToken', 'startingAfter'],
  since: ['updatedSince', 'modifiedSince', 'changedSince', 'updatedAfter', 'modifiedAfter', 'from'],
  state: ['status'],
  status: ['state'],
  label: ['tag', 'tags'],
  q: ['query', 'search', 'term'],
};

function synonymIn(names: readonly string[], name: string): string | undefined {
  const given = fold(name);
  return names.find((known) => synonyms[known]?.some((other) => fold(other) === given));
}

/** The names that a schema of an object knows. */
export function namesOf(schema: z.ZodType | undefined): string[] {
  const bare = bareOf(schema);
  return bare instanceof z.ZodObject ? Object.keys(bare.shape) : [];
}

function schemaAt(schema: z.ZodType | undefined, path: Path): z.ZodType | undefined {
  const [key, ...rest] = path;
  if (key === undefined) return schema;
  const bare = bareOf(schema);
  if (bare instanceof z.ZodArray) return schemaAt(bare.element as z.ZodType, rest);
  if (bare instanceof z.ZodObject) return schemaAt(bare.shape[String(key)] as z.ZodType, rest);
  return undefined;
}

/** A schema without what is wrapped around it: `optional`, `nullable`, `default`, `transform`. */
function bareOf(schema: z.ZodType | undefined): z.ZodType | undefined {
  if (schema instanceof z.ZodPipe) return bareOf(schema.in as z.ZodType);
  const inner = (schema?.def as { innerType?: z.ZodType } | undefined)?.innerType;
  return inner ? bareOf(inner) : schema;
}

function fieldProblem(
  { part }: Checked,
  fullPath: Path,
  ...[code, text]: [code: string, text: string]
): FieldProblem {
  const tooLong = fullPath.findIndex((key) => String(key).length > NAME_CHARACTERS_MAX);
  const path = tooLong === -1 ? fullPath : fullPath.slice(0, tooLong);
  const end = /[.?!]$/.test(text) ? text : `${text}.`;
  const subject = subjectOf(part, path);
  const detail = /^(must|is|has) /.test(end) ? `${subject} ${end}` : `${subject}: ${end}`;
  return { ...placeOf(part, path), code, detail };
}

const WHOLE_PART: Readonly<Record<Part, string>> = {
  params: 'The path',
  querystring: 'The query',
  headers: 'The header',
  body: 'The body',
};

function subjectOf(part: Part, path: Path): string {
  if (path.length === 0) return WHOLE_PART[part];
  const name = path.map(String).join('.');
  return name === '' ? 'An empty name' : quote(name);
}

function placeOf(part: Part, path: Path): Partial<FieldProblem> {
  if (part === 'body')
    return { pointer: `#${path.map((key) => `/${toFragmentPart(key)}`).join('')}` };
  const name = String(path[0] ?? '');
  return part === 'headers' ? { header: name } : { parameter: name };
}

/** RFC 6901 escapes, then the percent-encoding of the fragment form (its section 6). */
function toFragmentPart(key: PropertyKey): string {
  return encodeURIComponent(escapePointer(String(key)).toWellFormed());
}

/** Names that a client sent are echoed shortened and without control characters. */
function quote(name: string): string {
  return `\`${name.slice(0, 64).replaceAll(/[^\x20-\x5f\x61-\x7e]/g, '?')}\``;
}

type RawIssue = z.core.$ZodRawIssue;

/** Words for zod's types. */
const kinds: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

/** Words for zod's formats of a text. */
const formats: Readonly<Record<string, string>> = {
  uuid: 'a UUID',
  datetime: 'an RFC 3339 date-time in UTC',
  url: 'an absolute URL',
};

type Words = {
  [Code in RawIssue['code']]: (issue: Extract<RawIssue, { code: Code }>) => string;
};

const somethingElse = (): string => 'must be something else here';

const words: Words = {
  invalid_type: ({ expected }) => `must be ${kinds[expected] ?? 'of another kind'}`,
  invalid_value: ({ values }) => `must be ${oneOf(values)}`,
  invalid_format: ({ format }) => `must be ${formats[format] ?? 'of another form'}`,
  too_small: ({ origin, minimum }) => `must ${countOf(origin, 'least', minimum)}`,
  too_big: ({ origin, maximum }) => `must ${countOf(origin, 'most', maximum)}`,
  not_multiple_of: ({ divisor }) => `must be a multiple of ${divisor}`,
  invalid_key: () => 'is no name that is allowed here',
  invalid_union: () => 'must have one of the forms that are allowed here',
  invalid_element: somethingElse,
  custom: somethingElse,
  unrecognized_keys: somethingElse,
};

/**
 * Says what is wrong with a value, to stand after its name (`must be a text`), where its schema says
 * nothing of its own: no wording of a library leaves the service.
 */
function fieldWords(issue: RawIssue): string {
  const say = words[issue.code] as (issue: RawIssue) => string;
  return say(issue);
}

function oneOf(values: readonly unknown[]): string {
  const known = values.map((value) => `\`${String(value)}\``).join(', ');
  return values.length > 1 ? `one of ${known}` : known;
}

const counted: Readonly<Record<string, string>> = {
  string: 'characters',
  array: 'elements',
  object: 'names',
  record: 'names',
};

function countOf(origin: string, end: 'least' | 'most', bound: number | bigint): string {
  const what = counted[origin];
  return what === undefined ? `be at ${end} ${bound}` : `have at ${end} ${bound} ${what}`;
}
