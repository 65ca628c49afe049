import { readFile } from 'node:fs/promises';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { packageUrl } from '#shared/program.ts';
import { escapePointer, isRecord } from '#shared/text/json.ts';
import { checkBy } from './compile-schema.ts';
import type { SchemaCheck, SchemaError } from './schema-errors.ts';

const DRAFT_4 = 'http://json-schema.org/draft-04/schema#';
const DRAFT_2020 = 'https://json-schema.org/draft/2020-12';

/** The check by a published schema, such as that of `3.1`. It comes with a package: nothing is fetched. */
export async function loadOpenApiCheck(version: string): Promise<SchemaCheck> {
  const name = `openapi ${version}`;
  const check =
    version === '2.0' || version === '3.0'
      ? await checkBy(name, Ajv, async () => withoutDraft4(await readSchema(version)))
      : await checkBy(name, Ajv2020, async () => withDialect(await readSchema(version)));
  return (document) => [...check(document), ...repeatedNames(document as Record<string, unknown>)];
}

async function readSchema(version: string): Promise<string> {
  const file = `@seriousme/openapi-schema-validator/schemas/v${version}/schema.json`;
  return readFile(packageUrl(file), 'utf8');
}

/** A schema in JSON Schema's draft 4 as one of draft 7, which the validator knows. */
function withoutDraft4(text: string): object {
  const schema = JSON.parse(text, (_key, value: unknown) => {
    const { $ref, exclusiveMinimum, minimum, ...rest } = (value ?? {}) as Record<string, unknown>;
    if (exclusiveMinimum === true) return { ...rest, exclusiveMinimum: minimum };
    if (typeof $ref !== 'string' || !$ref.startsWith(DRAFT_4)) return value;
    if ($ref.includes('/exclusive')) return { type: 'boolean' };
    const name = $ref.slice(DRAFT_4.length).replace('positiveInteger', 'nonNegativeInteger');
    return { $ref: `#/definitions/draft7${name}` };
  }) as Record<string, unknown>;
  const draft7 = localCopy(new Ajv(), 'http://json-schema.org/draft-07/schema', [
    ['"#/', '"#/definitions/draft7/'],
    ['"#"', '"#/definitions/draft7"'],
  ]);
  const definitions = { ...(schema['definitions'] as object), draft7 };
  return { ...schema, id: undefined, $schema: undefined, definitions };
}

/** What a Schema Object may name as its dialect. By another one it is not judged. */
const DIALECTS = [`${DRAFT_2020}/schema`, 'https://spec.openapis.org/oas/3.1/dialect/base'];
const VOCABULARIES = [
  'core',
  'applicator',
  'unevaluated',
  'validation',
  'meta-data',
  'format-annotation',
  'content',
];

/**
 * The schema of a document, which is published without a word about Schema Objects, with their dialect in
 * that place: the vocabularies of JSON Schema 2020-12, and that of OpenAPI.
 * @see https://spec.openapis.org/oas/v3.1.1.html#schema-object
 */
function withDialect(text: string): object {
  const schema = JSON.parse(text) as Record<string, unknown>;
  const ajv = new Ajv2020();
  const vocabularies = VOCABULARIES.map((name) => [
    name,
    localCopy(ajv, `${DRAFT_2020}/meta/${name}`, [
      ['"#/', `"#/$defs/${name}/`],
      ['"$dynamicRef":"#meta"', '"$ref":"#/$defs/schema"'],
    ]),
  ]);
  const dialect = {
    type: ['object', 'boolean'],
    if: { required: ['$schema'], properties: { $schema: { not: { enum: DIALECTS } } } },
    else: { allOf: [...VOCABULARIES.map((name) => ({ $ref: `#/$defs/${name}` })), OPENAPI] },
  };
  const own = Object.fromEntries(vocabularies) as object;
  const $defs = { ...(schema['$defs'] as object), ...own, schema: dialect };
  return { ...schema, $id: undefined, $schema: undefined, $defs };
}

/** A schema that the validator brings along, to be put into another one; `changes` are made in its text. */
function localCopy(ajv: Ajv, name: string, changes: readonly [string, string][]): object {
  const own = { $id: undefined, $schema: undefined, $dynamicAnchor: undefined, type: undefined };
  const text = JSON.stringify({ ...(ajv.getSchema(name)?.schema as object), ...own });
  const copied = changes.reduce((copy, [from, to]) => copy.replaceAll(from, to), text);
  return JSON.parse(copied) as object;
}

const words = { type: 'string' };
/** What OpenAPI adds to a Schema Object, by its `meta/base`. What only 3.2 has in these is left open. */
const OPENAPI = {
  properties: {
    discriminator: {
      type: 'object',
      required: ['propertyName'],
      properties: { propertyName: words, mapping: { type: 'object', additionalProperties: words } },
    },
    externalDocs: { type: 'object', required: ['url'], properties: { url: words } },
    xml: { type: 'object', properties: { name: words, namespace: words, prefix: words } },
  },
};

/**
 * What no schema can tell of an OpenAPI document: paths that differ in the names of their parameters
 * alone, and operations with one id.
 */
function repeatedNames(document: Readonly<Record<string, unknown>>): SchemaError[] {
  const errors: SchemaError[] = [];
  const first = new Map<string, string>();
  const note = (name: string, { what, at, keyword, message }: Noted): void => {
    const former = first.get(`${keyword} ${name}`);
    if (former === undefined) first.set(`${keyword} ${name}`, what);
    else errors.push({ instancePath: at, keyword, params: {}, message: message(former) });
  };
  for (const part of ['paths', 'webhooks'])
    for (const [path, item] of membersOf(document[part])) {
      const at = `/${part}/${escapePointer(path)}`;
      if (path.includes('{'))
        note(path.replaceAll(/\{[^{}]*\}/g, '{}'), {
          what: path,
          at,
          keyword: 'equivalent-path',
          message: (former) => `is the same path as ${former}: only names in braces differ`,
        });
      for (const [method, operation] of membersOf(item)) {
        const id = isRecord(operation) ? operation['operationId'] : undefined;
        if (typeof id === 'string')
          note(id, {
            what: `${method} ${path}`,
            at: `${at}/${method}/operationId`,
            keyword: 'duplicate-operation-id',
            message: (former) => `${id} is the operationId of ${former}, too`,
          });
      }
    }
  return errors;
}

type Noted = { what: string; at: string; keyword: string; message: (former: string) => string };

function membersOf(value: unknown): [string, unknown][] {
  return isRecord(value) ? Object.entries(value) : [];
}
