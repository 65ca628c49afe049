/**
 * Unions of a JSON Schema (`oneOf`, `anyOf`) that say why the closest of their alternatives does not fit.
 * The validator's own say what is wrong with the value by every alternative, all in one list: some
 * thirty errors for one wrong word in a security scheme.
 */
import type { Ajv, ErrorObject, FuncKeywordDefinition, ValidateFunction } from 'ajv';
import { escapePointer, isRecord } from '#shared/text/json.ts';
import type { SchemaError } from './schema-errors.ts';

const UNIONS = 'unions';
const ALTERNATIVES = { oneOf: 'oneOfThese', anyOf: 'anyOfThese' } as const;

type UnionKind = keyof typeof ALTERNATIVES;

type Validate = ReturnType<NonNullable<FuncKeywordDefinition['compile']>>;

/** The addresses of the alternatives, each a schema of its own for the validator. */
type Union = { kind: UnionKind; alternatives: string[] };

/**
 * A copy of `schema`, whose references are all local, with `unions` in place of `oneOf` and `anyOf`;
 * `name` is what it is added as.
 */
export function withUnions(schema: object, name: string): object {
  return rewrite(schema, `${name}#`) as object;
}

function rewrite(node: unknown, address: string): unknown {
  if (Array.isArray(node)) return node.map((item, index) => rewrite(item, `${address}/${index}`));
  if (!isRecord(node)) return node;
  const members: [string, unknown][] = [];
  const unions: Union[] = [];
  for (const [key, value] of Object.entries(node)) {
    const kind = unionKind(key, value);
    const name = kind ? ALTERNATIVES[kind] : key;
    const below = `${address}/${encodeURIComponent(escapePointer(name))}`;
    members.push([name, rewrite(value, below)]);
    if (kind) unions.push({ kind, alternatives: addressesIn(value, below) });
  }
  return Object.fromEntries(unions.length > 0 ? [...members, [UNIONS, unions]] : members);
}

/** A property can have the same name, but is no list. */
function unionKind(key: string, value: unknown): UnionKind | undefined {
  return (key === 'oneOf' || key === 'anyOf') && Array.isArray(value) ? key : undefined;
}

function addressesIn(value: unknown, address: string): string[] {
  return Object.keys(value as object).map((index) => `${address}/${index}`);
}

/** The keyword `unions` of what `withUnions` made. An alternative is compiled when a value first needs it. */
export function unionKeyword(ajv: Ajv): FuncKeywordDefinition {
  return {
    keyword: UNIONS,
    schemaType: 'array',
    errors: 'full',
    compile: (unions: readonly Union[]) => {
      const validate: Validate = (value: unknown, context) => {
        const at = context?.instancePath ?? '';
        const errors = unions.flatMap(({ kind, alternatives }) =>
          errorsOfUnion(
            kind,
            alternatives.values().map((address) => {
              const check = ajv.getSchema(address);
              if (!check) throw new Error(`there is no schema at ${address}`);
              return check(value, context) === true ? [] : errorsOf(check);
            }),
            { value, at },
          ),
        );
        validate.errors = errors;
        return errors.length === 0;
      };
      return validate;
    },
  };
}

type Place = { value: unknown; at: string };

/** `results`: what each alternative says of the value; nothing where it fits. */
function errorsOfUnion(
  kind: UnionKind,
  results: Iterable<readonly SchemaError[]>,
  { value, at }: Place,
): readonly SchemaError[] {
  const refused: (readonly SchemaError[])[] = [];
  let fitting = 0;
  for (const errors of results) {
    if (errors.length > 0) refused.push(errors);
    else if (kind === 'anyOf') return [];
    else fitting += 1;
  }
  if (fitting === 0) return closestErrors(refused, at);
  // The published schemas take some references for what they lead to as well.
  const isFine = fitting === 1 || (isRecord(value) && Object.hasOwn(value, '$ref'));
  return isFine ? [] : [{ instancePath: at, keyword: 'oneOf', params: {}, message: AMBIGUOUS }];
}

const AMBIGUOUS = 'must be exactly one of several things, and could be two';

/** What is wrong with the value that was checked last, by a validator that is `verbose`. */
export function errorsOf({ errors }: Pick<ValidateFunction, 'errors'>): SchemaError[] {
  // `if` only says that something below it failed.
  return (errors ?? []).filter(({ keyword }) => keyword !== 'if').map(inWords);
}

/** The words of the validator, `must NOT be valid`, leave out what must not be there. */
function inWords(error: ErrorObject): SchemaError {
  const { required } = (error.keyword === 'not' ? error.schema : {}) as { required?: string[] };
  if (!required) return error;
  return { ...error, message: `must NOT have the property '${required.join("' and '")}'` };
}

type Errors = readonly SchemaError[];

/**
 * What is wrong with the value at `at` by the alternative that it was most likely meant for, given what
 * is wrong by each, of which there is one at least. Where all want another word in the same member, the
 * words of all are allowed.
 */
export function closestErrors(alternatives: readonly Errors[], at: string): Errors {
  const [first = [], ...others] = alternatives;
  const closest = others.reduce(
    (best, errors) => (isCloser(distanceOf(errors, at), distanceOf(best, at)) ? errors : best),
    first,
  );
  if (!closest.some((error) => isOtherWord(error, at))) return closest;
  const words = wordsOf(alternatives.flat().filter((error) => isOtherWord(error, at)));
  return closest.map((error) => (isOtherWord(error, at) ? withAllWords(error, words) : error));
}

/** How far a value is from an alternative: what comes first counts more. */
function distanceOf(errors: Errors, at: string): readonly number[] {
  const here = errors.filter(({ instancePath }) => instancePath === at);
  return [
    Number(here.some(({ keyword }) => keyword === 'type')),
    Number(here.some(isReferenceMistaken)),
    Number(errors.some((error) => isOtherWord(error, at))),
    here.length,
    errors.length,
  ];
}

function isCloser(distance: readonly number[], other: readonly number[]): boolean {
  const place = distance.findIndex((far, index) => far !== other[index]);
  return place >= 0 && (distance[place] ?? 0) < (other[place] ?? 0);
}

/** The value is a reference where none may be, or none where one must be. */
function isReferenceMistaken({ params }: SchemaError): boolean {
  const { missingProperty, additionalProperty } = params as Record<string, unknown>;
  return missingProperty === '$ref' || additionalProperty === '$ref';
}

/** The value, or a member of it, says itself that it is another thing, as `type` does in many. */
function isOtherWord({ instancePath, keyword }: SchemaError, at: string): boolean {
  if (keyword !== 'enum' && keyword !== 'const') return false;
  return instancePath === at || instancePath.lastIndexOf('/') === at.length;
}

type Words = ReadonlyMap<string, ReadonlySet<unknown>>;

/** By the place of the member. */
function wordsOf(errors: Errors): Words {
  const words = new Map<string, Set<unknown>>();
  for (const { instancePath, params } of errors) {
    const { allowedValues, allowedValue } = params as Record<string, unknown>;
    const known = words.get(instancePath) ?? new Set();
    for (const word of Array.isArray(allowedValues) ? allowedValues : [allowedValue])
      known.add(word);
    words.set(instancePath, known);
  }
  return words;
}

function withAllWords(error: SchemaError, words: Words): SchemaError {
  const allowedValues = [...(words.get(error.instancePath) ?? [])];
  if (allowedValues.length <= 1) return error;
  const message = 'must be equal to one of the allowed values';
  return { ...error, keyword: 'enum', params: { allowedValues }, message };
}
