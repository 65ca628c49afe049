type Schema = Record<string, unknown>;

/**
 * Takes away what zod writes into a JSON Schema and what does harm to generators of clients, or says
 * nothing: `readOnly` (our lists are read-only in TypeScript alone, and generators make two types of
 * it), the bounds of a double, and that names in an object are texts.
 */
export function forClients({ jsonSchema }: { jsonSchema: object }): void {
  const schema = jsonSchema as Schema;
  delete schema['readOnly'];
  for (const bound of ['minimum', 'maximum'])
    if (Math.abs(Number(schema[bound])) === Number.MAX_SAFE_INTEGER) delete schema[bound];
  if (JSON.stringify(schema['propertyNames']) === '{"type":"string"}')
    delete schema['propertyNames'];
  const short = SHORT_PATTERNS[String(schema['format'])];
  if (short !== undefined) schema['pattern'] = short;
}

/** What zod writes beside these formats is up to 256 characters long. */
const SHORT_PATTERNS: Readonly<Record<string, string>> = {
  uuid: '^[0-9A-Fa-f-]{36}$',
  'date-time': 'Z$',
};

/**
 * A component with the defaults of its fields in words: some generators take a field of a body that has
 * a `default` for one that is required. Parameters retain theirs.
 */
export function withoutDefaults(schema: object): object {
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
