import { readFile } from 'node:fs/promises';
import { Ajv } from 'ajv';
import { packageUrl } from '#shared/program.ts';
import { checkBy } from './compile-schema.ts';
import type { SchemaCheck } from './schema-errors.ts';

/** The check by a published schema, such as that of `3.0`. It comes with a package: nothing is fetched. */
export async function loadAsyncApiCheck(version: string): Promise<SchemaCheck> {
  const check = await checkBy(`asyncapi ${version}`, Ajv, () => readSchema(version));
  // The schema wants exactly this patch number.
  return (document) => check({ ...(document as object), asyncapi: `${version}.0` });
}

/** The variant whose references all stay inside of it. */
async function readSchema(version: string): Promise<object> {
  const file = packageUrl(`@asyncapi/specs/schemas/${version}.0-without-$id.json`);
  return JSON.parse(await readFile(file, 'utf8')) as object;
}
