/** Checks documents by a published schema, and says of each fault what was most likely meant. */
import type { Ajv, ErrorObject, Options } from 'ajv';
import addFormats from 'ajv-formats';
import { isRecord } from '#shared/text/json.ts';

/** A validator's error at one place of a document. */
export type SchemaError = {
  instancePath: string;
  keyword: string;
  params: object;
  message?: string;
};

/** Says all that a published schema finds wrong with a document; an error may come twice. */
export type SchemaCheck = (document: unknown) => readonly SchemaError[];

const SCHEMA = 'document';
const OPTIONS: Options = { allErrors: true, strict: false, validateSchema: false, verbose: true };

/** Compiled schemas are the same for everybody. */
const compiled = new Map<string, Promise<SchemaCheck>>();

/** The check by a published schema, all of whose references are local; `load` is called once for each `name`. */
export function checkBy(
  name: string,
  Validator: new (options: Options) => Ajv,
  load: () => Promise<object>,
): Promise<SchemaCheck> {
  const check =
    compiled.get(name) ?? load().then((schema) => compile(new Validator(OPTIONS), schema));
  compiled.set(name, check);
  return check;
}

function compile(ajv: Ajv, schema: object): SchemaCheck {
  (addFormats as unknown as (ajv: Ajv) => void)(ajv);
  ajv.addFormat('media-range', true);
  ajv.addSchema(withWholeReferences(schema), SCHEMA);
  const check = ajv.getSchema(SCHEMA);
  if (!check) throw new Error('the schema was not added');
  return (document) => {
    void check(document);
    return closestErrors(ajv, check.errors ?? []);
  };
}

/** Such as `document#/definitions/Schema`: with them an alternative is a schema of its own. */
function withWholeReferences(schema: object): object {
  const { id: _id, $id: _own, $schema: _dialect, ...rest } = schema as Record<string, unknown>;
  const whole = (key: string, value: unknown): unknown =>
    key === '$ref' && typeof value === 'string' && value.startsWith('#') ? SCHEMA + value : value;
  return JSON.parse(JSON.stringify(rest), whole) as object;
}

/**
 * Errors of a value, by a validator that is `verbose`, of each union (`oneOf`, `anyOf`) by the alternative alone that
 * the value was most likely meant for. The validator says what is wrong by all.
 */
export function closestErrors(ajv: Ajv, errors: readonly ErrorObject[]): SchemaError[] {
  const found: SchemaError[] = [];
  const below = new Set<string>();
  // Those of its alternatives stand before a union's own.
  for (const error of errors.toReversed()) {
    // `if` only says that something below it failed.
    if (error.keyword === 'if' || below.has(keyOf(error))) continue;
    if (!isUnion(error)) found.push(inWords(error));
    else if (error.params['passingSchemas']) found.push(...ambiguity(error));
    else {
      const alternatives = alternativesOf(ajv, error);
      for (const one of alternatives.flat()) below.add(keyOf(one));
      const each = alternatives.map((one) => closestErrors(ajv, one));
      found.push(...closestOf(each, error.instancePath).toReversed());
    }
  }
  return found.toReversed();
}

type Union = ErrorObject<string, Record<string, unknown>> & { schema: object[] };

function isUnion(error: ErrorObject): error is Union {
  return error.keyword === 'oneOf' || error.keyword === 'anyOf';
}

function keyOf({ instancePath, keyword, params }: SchemaError): string {
  return JSON.stringify([instancePath, keyword, params]);
}

/** Errors by each. */
function alternativesOf(ajv: Ajv, { schema, data, instancePath }: Union): ErrorObject[][] {
  return schema.map((alternative) => {
    const check = ajv.compile(alternative);
    check(data);
    return (check.errors ?? []).map((error) => ({
      ...error,
      instancePath: `${instancePath}${error.instancePath}`,
    }));
  });
}

/** The published schemas take some references for what they lead to as well. */
function ambiguity({ data, instancePath }: Union): SchemaError[] {
  if (isRecord(data) && Object.hasOwn(data, '$ref')) return [];
  const message = 'must be exactly one of several things, and could be two';
  return [{ instancePath, keyword: 'oneOf', params: {}, message }];
}

/** Of the alternative with the fewest errors. Where all want another word in a member, the words of all are allowed. */
function closestOf(alternatives: readonly SchemaError[][], at: string): SchemaError[] {
  const distanceOf = (errors: readonly SchemaError[]): number =>
    errors.reduce((sum, error) => sum + weightOf(error, at), 0);
  const closest = alternatives.toSorted((one, other) => distanceOf(one) - distanceOf(other))[0];
  return (closest ?? []).map((error) => {
    if (!isOtherWord(error, at)) return error;
    const same = alternatives
      .flat()
      .filter((one) => one.instancePath === error.instancePath && isOtherWord(one, at));
    const allowedValues = [...new Set(same.flatMap(wordsOf))];
    const message = 'must be equal to one of the allowed values';
    return { ...error, keyword: 'enum', params: { allowedValues }, message };
  });
}

/** A value of another type, a reference or none, or a word such as `type` in a member, tells what was not meant. */
function weightOf(error: SchemaError, at: string): number {
  const { instancePath, keyword, params } = error;
  const { missingProperty, additionalProperty } = params as Record<string, unknown>;
  if (instancePath !== at) return isOtherWord(error, at) ? 10_000 : 1;
  if (keyword === 'type' || isOtherWord(error, at)) return 1_000_000;
  return missingProperty === '$ref' || additionalProperty === '$ref' ? 100_000 : 1;
}

function isOtherWord({ instancePath, keyword }: SchemaError, at: string): boolean {
  if (keyword !== 'enum' && keyword !== 'const') return false;
  return instancePath === at || instancePath.lastIndexOf('/') === at.length;
}

function wordsOf({ params }: SchemaError): unknown[] {
  const { allowedValues, allowedValue } = params as Record<string, unknown>;
  return Array.isArray(allowedValues) ? allowedValues : [allowedValue];
}

/** The words of the validator, `must NOT be valid`, leave out what must not be there. */
function inWords(error: ErrorObject): SchemaError {
  const { required } = (error.keyword === 'not' ? error.schema : {}) as { required?: string[] };
  if (!required) return error;
  return { ...error, message: `must NOT have the property '${required.join("' and '")}'` };
}
