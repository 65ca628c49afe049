import type { z } from 'zod';

type RawIssue = z.core.$ZodRawIssue;

/** What a value must be, by zod's name of its type. */
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

/** What a text must be, by zod's name of its format. */
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
 * What is wrong with a value, after its name (`must be a text`): for schemas that say nothing of their
 * own. No wording of a library leaves the service.
 */
export function fieldWords(issue: RawIssue): string {
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
