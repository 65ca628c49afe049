import type { Ajv, Options, ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { FINDINGS_MAX } from '../finding.ts';
import type { SchemaCheck } from './schema-errors.ts';
import { errorsOf, unionKeyword, withUnions } from './schema-unions.ts';

const SCHEMA = 'document';
/** Each list of errors that is joined to another one is copied: as often as there are faults. More are not counted. */
const JOINED_ERRORS_MAX = 50 * FINDINGS_MAX;
const OPTIONS: Options = {
  allErrors: true,
  strict: false,
  validateSchema: false,
  verbose: true,
  code: {
    process: (code) =>
      code.replaceAll(
        'vErrors.concat(',
        `vErrors.length > ${JOINED_ERRORS_MAX} ? vErrors : vErrors.concat(`,
      ),
  },
};

/** Compiled schemas are the same for everybody. */
const compiled = new Map<string, Promise<ValidateFunction>>();

/** The check by a published schema, all of whose references are local; `load` is called once for each `name`. */
export async function checkBy(
  name: string,
  Validator: new (options: Options) => Ajv,
  load: () => Promise<object>,
): Promise<SchemaCheck> {
  const loading =
    compiled.get(name) ?? load().then((schema) => compile(new Validator(OPTIONS), schema));
  compiled.set(name, loading);
  const check = await loading;
  return (document) => {
    check(document);
    return errorsOf(check);
  };
}

function compile(ajv: Ajv, schema: object): ValidateFunction {
  (addFormats as unknown as (ajv: Ajv) => void)(ajv);
  ajv.addFormat('media-range', true);
  ajv.addKeyword(unionKeyword(ajv));
  ajv.addSchema(withUnions(schema, SCHEMA), SCHEMA);
  const check = ajv.getSchema(SCHEMA);
  if (!check) throw new Error('the schema was not added');
  return check;
}
