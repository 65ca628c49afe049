import type { Ajv, Options } from 'ajv';
import addFormats from 'ajv-formats';
import { closestErrors } from './closest-errors.ts';
import type { SchemaCheck } from './schema-errors.ts';

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
