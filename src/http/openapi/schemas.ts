import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { isRecord } from '#shared/text/json.ts';

type Schema = Record<string, unknown>;

/** The part of a JSON Schema that is looked at. */
type JsonSchema = {
  properties?: Record<string, Schema>;
  required?: readonly string[];
};

/** The JSON Schema of what comes (`input`) or goes; what has an id is a reference to a component. */
export type ToJsonSchema = (schema: z.ZodType, io: 'input' | 'output') => JsonSchema;

const REFERENCE = '#/components/schemas/';

/** Makes schemas for the document, and gathers those that have an id. */
export function createSchemas(): {
  toJsonSchema: ToJsonSchema;
  /** All that were referred to by their ids, in order. */
  components: () => [id: string, schema: object][];
} {
  const found = new Map<string, Schema>();
  return {
    toJsonSchema: (schema, io) => {
      // As a member of another one, what has an id is referred to itself.
      const outer = z.toJSONSchema(z.object({ schema }), {
        io,
        unrepresentable: 'any',
        override: forClients,
      });
      const text = JSON.stringify(outer).replaceAll('#/$defs/', REFERENCE);
      const { $defs = {}, properties } = JSON.parse(text) as {
        $defs?: Record<string, Schema>;
        properties: { schema: JsonSchema };
      };
      for (const [id, { id: _id, ...component }] of Object.entries($defs)) {
        if (!isDeepStrictEqual(found.get(id) ?? component, component))
          throw new TypeError(`two schemas of openapi.json would be called ${id}`);
        found.set(id, component);
      }
      return constAsEnum(properties.schema);
    },
    components: () =>
      [...found]
        .toSorted(([left], [right]) => (left < right ? -1 : 1))
        .map(([id, schema]) => [id, withoutDefaults(schema)]),
  };
}

/** Swagger UI knows no `const`, which stands in parameters and in bodies without a name. */
function constAsEnum<T>(schema: T): T {
  return JSON.parse(JSON.stringify(schema), (_key, value: unknown) => {
    if (!isRecord(value) || !('const' in value)) return value;
    const { const: only, ...others } = value;
    return { ...others, enum: [only] };
  }) as T;
}

/**
 * Takes away what zod writes into a JSON Schema and what does harm to generators of clients, or says
 * nothing: `readOnly` (our lists are read-only in TypeScript alone, and generators make two types of
 * it), the bounds of a double, and that names in an object are texts.
 */
function forClients({ jsonSchema }: { jsonSchema: object }): void {
  const schema = jsonSchema as Schema;
  delete schema['readOnly'];
  for (const bound of ['minimum', 'maximum'])
    if (Math.abs(Number(schema[bound])) === Number.MAX_SAFE_INTEGER) delete schema[bound];
  if (JSON.stringify(schema['propertyNames']) === '{"type":"string"}')
    delete schema['propertyNames'];
  const short = SHORT_PATTERNS[String(schema['format'])];
  if (short !== undefined) schema['pattern'] = short;
}

/** Patterns in place of those that zod writes beside these formats: up to 256 characters. */
const SHORT_PATTERNS: Readonly<Record<string, string>> = {
  uuid: '^[0-9A-Fa-f-]{36}$',
  'date-time': 'Z$',
};

/**
 * A component with the defaults of its fields in words: some generators take a field of a body that has
 * a `default` for one that is required. Parameters retain theirs.
 */
function withoutDefaults(schema: object): object {
  if (!('properties' in schema)) return schema;
  const fields = Object.entries(schema.properties as object).map(([name, field]) => [
    name,
    withDefaultInWords(field as Schema),
  ]);
  return { ...schema, properties: Object.fromEntries(fields) };
}

function withDefaultInWords({ default: preset, ...field }: Schema): Schema {
  if (preset === undefined) return field;
  const sentence = `Default: \`${JSON.stringify(preset).replaceAll('"', '')}\`.`;
  const { description } = field;
  return {
    ...field,
    description: typeof description === 'string' ? `${description} ${sentence}` : sentence,
  };
}
