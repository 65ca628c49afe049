import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import { Ajv, type ValidateFunction } from 'ajv';
import addFormatsModule from 'ajv-formats';

/**
 * The published OpenAPI description of the real tracker, as an oracle for what the sandbox answers
 * and sends.
 */

type Node = Record<string, unknown>;
type Content = { content?: { 'application/json'?: { schema: Node } } };
type Response = Content & { $ref?: string };

const require = createRequire(import.meta.url);
const source = require.resolve('@octokit/openapi/generated/api.github.com.json');
const description = JSON.parse(readFileSync(source, 'utf8')) as {
  paths: Record<string, Record<string, { responses: Record<string, Response> }>>;
  components: { responses: Record<string, Response>; schemas: Record<string, Node> };
  'x-webhooks': Record<string, { post: { requestBody: Content } }>;
};

const ajv = new Ajv({
  strict: false,
  validateSchema: false,
  allErrors: true,
  // Of what is asked once or twice, quick code is not worth making.
  code: { optimize: false },
});
(addFormatsModule as unknown as (ajv: Ajv) => void)(ajv);
ajv.addFormat('uri-template', true);
ajv.addFormat('int64', true);

/** OpenAPI 3.0 says `nullable` where JSON Schema has a type of its own. */
function tolerant(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tolerant);
  if (typeof value !== 'object' || value === null) return value;
  const { nullable, ...node } = value as Node;
  const schema = Object.fromEntries(
    Object.entries(node).map(([key, item]) => [key, tolerant(item)]),
  );
  return nullable === true ? { anyOf: [{ type: 'null' }, schema] } : schema;
}

/** Whatever its schemas lead to is compiled once for all of them. */
ajv.addSchema({ $id: 'description', components: tolerant(description.components) as Node });

function compile(schema: Node): ValidateFunction {
  const text = JSON.stringify(tolerant(schema)).replaceAll('"#/', '"description#/');
  return ajv.compile(JSON.parse(text) as Node);
}

const validators = new Map<Node, ValidateFunction>();

function problemsOf(schema: Node, value: unknown): string[] {
  const validate = validators.get(schema) ?? compile(schema);
  validators.set(schema, validate);
  if (validate(value)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message }) => `${instancePath} ${message ?? ''}`,
  );
}

/**
 * Finds faults of an answer by the description; undefined when it describes no such answer
 * (401, for one, is documented nowhere).
 */
export function problemsOfAnswer(
  { method, path }: { method: string; path: string },
  status: number,
  value: unknown,
): string[] | undefined {
  const response = operationAt(path, method.toLowerCase())?.responses[String(status)];
  if (!response) return undefined;
  const name = response.$ref?.split('/').pop();
  const schema = (name ? description.components.responses[name] : response)?.content?.[
    'application/json'
  ]?.schema;
  if (schema) return problemsOf(schema, value);
  return value === undefined ? [] : ['the body should be empty'];
}

/** Finds faults of a webhook's payload by the description, such as `issues-edited`. */
export function problemsOfPayload(name: string, payload: unknown): string[] {
  const schema =
    description['x-webhooks'][name]?.post.requestBody.content?.['application/json']?.schema;
  return schema ? problemsOf(schema, payload) : [`there is no webhook ${name}`];
}

const templates = Object.entries(description.paths).map(([path, methods]) => ({
  methods,
  variables: path.split('{').length,
  pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{[^}]+\}/g, '[^/]+')}$`),
}));

/** The most literal path that fits, as a router would choose. */
function operationAt(path: string, method: string) {
  const fitting = templates.filter(({ pattern, methods }) => pattern.test(path) && methods[method]);
  return fitting.sort((a, b) => a.variables - b.variables)[0]?.methods[method];
}
