import { readFile } from 'node:fs/promises';
import type { Ajv, Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import AjvDraft04 from 'ajv-draft-04';
import { packageUrl } from '#shared/program.ts';
import { escapePointer, isRecord } from '#shared/text/json.ts';
import { checkBy, type SchemaCheck, type SchemaError } from './schema-check.ts';

/** Its types speak of another module system. */
const Draft4 = AjvDraft04 as unknown as new (options: Options) => Ajv;
const DRAFT_4 = 'http://json-schema.org/draft-04/schema';
const DRAFT_2020 = 'https://json-schema.org/draft/2020-12';
/** Dialects that a document or a Schema Object may name for its schemas. By another one they are not judged. */
const DIALECT = String.raw`^(?:https://json-schema\.org/draft/2020-12/schema|https://spec\.openapis\.org/oas/3\.[12]/dialect/[^#]+)#?$`;

/** The check by a published schema, such as that of `3.1`. It comes with a package: nothing is fetched. */
export async function loadOpenApiCheck(
  version: string,
  document: Readonly<Record<string, unknown>>,
): Promise<SchemaCheck> {
  const check =
    version === '2.0' || version === '3.0'
      ? await checkBy(`openapi ${version}`, Draft4, async () =>
          withDraft4(await readSchema(version)),
        )
      : await checkByDialect(version, document['jsonSchemaDialect']);
  return (given) => [...check(given), ...repeatedNames(given as Record<string, unknown>)];
}

function checkByDialect(version: string, named: unknown): Promise<SchemaCheck> {
  const isForeign = typeof named === 'string' && !new RegExp(DIALECT).test(named);
  return checkBy(`openapi ${version} ${isForeign}`, Ajv2020, async () =>
    withDialect(await readSchema(version), isForeign),
  );
}

async function readSchema(version: string): Promise<Record<string, unknown>> {
  const file = `@seriousme/openapi-schema-validator/schemas/v${version}/schema.json`;
  return JSON.parse(await readFile(packageUrl(file), 'utf8')) as Record<string, unknown>;
}

/** With its draft inside of it: of a schema elsewhere no alternative can be had alone. */
function withDraft4(schema: Record<string, unknown>): object {
  const draft4 = localCopy(new Draft4({}), DRAFT_4, '#/definitions/draft4');
  const definitions = { ...(schema['definitions'] as object), draft4 };
  const text = JSON.stringify({ ...schema, definitions });
  return JSON.parse(text.replaceAll(`"${DRAFT_4}#`, '"#/definitions/draft4')) as object;
}

const VOCABULARIES = [
  'core',
  'applicator',
  'unevaluated',
  'validation',
  'meta-data',
  'format-annotation',
  'content',
];
/** A definition of the document's own is called `content`, too. */
const nameOf = (vocabulary: string): string => `vocabulary-${vocabulary}`;

/**
 * The schema of a document, which is published without a word about Schema Objects, with their dialect in
 * that place: the vocabularies of JSON Schema 2020-12, and that of OpenAPI. `isForeign`: the document names
 * another one, but a Schema Object can still name this.
 * @see https://spec.openapis.org/oas/v3.1.1.html#schema-object
 */
function withDialect(schema: Record<string, unknown>, isForeign: boolean): object {
  const ajv = new Ajv2020();
  const vocabularies = VOCABULARIES.map((name) => {
    const copy = localCopy(ajv, `${DRAFT_2020}/meta/${name}`, `#/$defs/${nameOf(name)}`);
    return [nameOf(name), copy];
  });
  const judged = { properties: { $schema: { pattern: DIALECT } } };
  const dialect = {
    type: ['object', 'boolean'],
    if: { not: isForeign ? { ...judged, required: ['$schema'], type: 'object' } : judged },
    else: {
      allOf: [...VOCABULARIES.map((name) => ({ $ref: `#/$defs/${nameOf(name)}` })), OPENAPI],
    },
  };
  const $defs = {
    ...(schema['$defs'] as object),
    ...(Object.fromEntries(vocabularies) as object),
    schema: dialect,
  };
  return { ...schema, $defs };
}

/** A schema that the validator brings along, to be put into another one at `place`. */
function localCopy(ajv: Ajv, name: string, place: string): object {
  const {
    $schema: _s,
    $id: _i,
    id: _d,
    $dynamicAnchor: _a,
    type: _t,
    ...copied
  } = (ajv.getSchema(name)?.schema ?? {}) as Record<string, unknown>;
  const text = JSON.stringify(copied)
    .replaceAll('"#/', `"${place}/`)
    .replaceAll('"$ref":"#"', `"$ref":"${place}"`)
    .replaceAll('"$dynamicRef":"#meta"', '"$ref":"#/$defs/schema"');
  return JSON.parse(text) as object;
}

const words = { type: 'string' };
/** Words that OpenAPI adds to a Schema Object, by its `meta/base`. Those that only 3.2 has are left open. */
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
 * Faults of an OpenAPI document that no schema can tell: paths that differ in the names of their parameters
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
