import { readFile } from 'node:fs/promises';
import { Ajv } from 'ajv';
import type { ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import type { SchemaCheck } from './schema-errors.ts';
import { errorsOf, unionKeyword, withUnions } from './schema-unions.ts';

const SCHEMA = 'asyncapi';

/** Compiled schemas are the same for everybody. */
const compiled = new Map<string, ValidateFunction>();

/** The check by a published schema, such as that of `3.0`. It comes with a package: nothing is fetched. */
export async function loadAsyncApiCheck(version: string): Promise<SchemaCheck> {
  const check = compiled.get(version) ?? compile(await readSchema(version));
  compiled.set(version, check);
  return (document) => {
    // The schema wants exactly this patch number.
    check({ ...(document as object), asyncapi: `${version}.0` });
    return errorsOf(check);
  };
}

/** The variant whose references all stay inside of it. */
async function readSchema(version: string): Promise<object> {
  const folder = import.meta.resolve('@asyncapi/specs');
  const file = new URL(`schemas/${version}.0-without-$id.json`, folder);
  return JSON.parse(await readFile(file, 'utf8')) as object;
}

function compile(schema: object): ValidateFunction {
  const ajv = new Ajv({ allErrors: true, strict: false, validateSchema: false, verbose: true });
  (addFormats as unknown as (ajv: Ajv) => void)(ajv);
  ajv.addKeyword(unionKeyword(ajv));
  ajv.addSchema(withUnions(schema, SCHEMA), SCHEMA);
  const check = ajv.getSchema(SCHEMA);
  if (!check) throw new Error('the AsyncAPI schema was not added');
  return check;
}
