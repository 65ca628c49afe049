import { z } from 'zod';

import { configSchema } from './schema.ts';

type JsonSchema = Record<string, unknown>;

const REFERENCE = { type: 'string', pattern: String.raw`^\$\{[^}]+\}$` };

/**
 * `config/schema.json`: what editors check a configuration file with. Made from the zod schema;
 * wherever one value is wanted, `${NAME}` and `${file:PATH}` may stand instead.
 */
export function renderJsonSchema(): string {
  const schema = z.toJSONSchema(configSchema, {
    io: 'input',
    override: ({ jsonSchema }) => allowReferences(jsonSchema),
  });
  const titled = { ...schema, title: 'Trackport configuration' };
  return `${JSON.stringify(titled, null, 2)}\n`;
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
