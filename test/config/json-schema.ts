import { z } from 'zod';

import { findExplained, readManual } from './manual.ts';
import { configSchema } from '#config/schema/schema.ts';

type JsonSchema = Record<string, unknown>;

const REFERENCE = { type: 'string', pattern: String.raw`^\$\{[^}]+\}$` };

/**
 * `config/schema.json`: what editors check a configuration file with. Made from the zod schema, and
 * for what they show of a key from the comments of the manual (`config/default.yaml`). Wherever one
 * value is wanted, `${NAME}` and `${file:PATH}` may stand instead.
 */
export function renderJsonSchema(manual: string): string {
  const schema = z.toJSONSchema(configSchema, {
    io: 'input',
    override: ({ jsonSchema }) => allowReferences(jsonSchema),
  });
  const comments = readManual(manual);
  const explained = withDescriptions(schema, '', (path) => findExplained(comments, path));
  return `${JSON.stringify({ ...explained, title: 'Trackport configuration' }, null, 2)}\n`;
}

function allowReferences(node: JsonSchema): void {
  const isScalar = ['integer', 'number', 'boolean'].includes(String(node['type']));
  const isShapedText = node['type'] === 'string' && ('pattern' in node || 'enum' in node);
  if (!isScalar && !isShapedText) return;
  const { default: preset, writeOnly, ...rest } = node;
  for (const key of Object.keys(rest)) delete node[key];
  Object.assign(node, { anyOf: [rest, REFERENCE] });
  if (preset !== undefined) node['default'] = preset;
  if (writeOnly !== undefined) node['writeOnly'] = writeOnly;
}

type Explain = (path: string) => string | undefined;

/** A copy in which every key has its description. Names that the file gives stand as `*`. */
function withDescriptions(node: JsonSchema, path: string, explain: Explain): JsonSchema {
  const below = (key: string, child: unknown): JsonSchema => {
    const childPath = path === '' ? key : `${path}.${key}`;
    const description = explain(childPath);
    const explained = withDescriptions(child as JsonSchema, childPath, explain);
    return description === undefined ? explained : { description, ...explained };
  };
  const { properties, additionalProperties, items, anyOf } = node;
  return {
    ...node,
    ...(isSchema(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([key, child]) => [key, below(key, child)]),
      ),
    }),
    ...(isSchema(additionalProperties) && {
      additionalProperties: below('*', additionalProperties),
    }),
    ...(isSchema(items) && { items: withDescriptions(items, path, explain) }),
    ...(Array.isArray(anyOf) && {
      anyOf: anyOf.map((option: JsonSchema) => withDescriptions(option, path, explain)),
    }),
  };
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null;
}
