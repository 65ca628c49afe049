import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { allKeyPaths } from '#config/schema/key-tree.ts';
import { loadConfig } from '#config/load.ts';
import { configSchema } from '#config/schema/schema.ts';

/** Comment lines, and below them a key, be it set or shown as an example behind `#`. */
const EXPLAINED_KEY = /^((?: *#(?: .*)?\n)*)( *)#?(- )?([\w-]+):/gm;

/**
 * Reads the comments of `config/default.yaml` on its keys, by key path. A key's comment
 * stands right above it.
 */
function readManual(text: string): Map<string, string> {
  const explained = new Map<string, string>();
  let above: { indent: number; key: string }[] = [];
  for (const [, block = '', spaces = '', dash = '', key = ''] of text.matchAll(EXPLAINED_KEY)) {
    const indent = spaces.length + dash.length;
    above = [...above.filter((parent) => parent.indent < indent), { indent, key }];
    const path = above.map((parent) => parent.key).join('.');
    const comment = block
      .replaceAll(/^ *# ?/gm, '')
      .trim()
      .replaceAll('\n', ' ');
    if (comment !== '' && !explained.has(path)) explained.set(path, comment);
  }
  return explained;
}

/** The comment on a key path; `*` in it stands for any name that the file gives. */
function findExplained(manual: ReadonlyMap<string, string>, path: string): string | undefined {
  const wanted = path.split('.');
  for (const [explained, comment] of manual) {
    const parts = explained.split('.');
    const fits = (part: string, at: number): boolean => wanted[at] === part || wanted[at] === '*';
    if (parts.length === wanted.length && parts.every(fits)) return comment;
  }
  return undefined;
}

type JsonSchema = Record<string, unknown>;

const REFERENCE = { type: 'string', pattern: String.raw`^\$\{[^}]+\}$` };

/**
 * `config/schema.json`: what editors check a configuration file with. Made from the zod schema, and
 * for what they show of a key from the comments of the manual (`config/default.yaml`). Wherever one
 * value is wanted, `${NAME}` and `${file:PATH}` may stand instead.
 */
function renderJsonSchema(manual: string): string {
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

const needed = { repository: 'acme/leads', auth: { token: 'a-token' } };
const manual = readFileSync('config/default.yaml', 'utf8');

/** The manual with every key that it shows as an example, in place of what stands for its lack. */
function everyKey(): string {
  return manual.replace('\npartners: {}\n', '\n').replaceAll(/^( *)#(?! |$)/gm, '$1');
}

describe('config/default.yaml', () => {
  test('sets exactly the defaults', () => {
    const written = parse(manual) as { tracker: Record<string, unknown> };
    const fromManual = configSchema.parse({
      ...written,
      tracker: { ...written.tracker, ...needed },
    });
    expect(JSON.stringify(fromManual)).toBe(
      JSON.stringify(configSchema.parse({ tracker: needed })),
    );
  });

  test('has every key', () => {
    const paths = pathsOf(parse(everyKey()));
    const shown = new Set(paths.map((path) => path.replace(/^partners\.[\w-]+/, 'partners.*')));
    const wanted = allKeyPaths();
    // Names of fields are the user's own; the default form and the examples stand for all of them.
    const isNamed = (path: string): boolean => /\.(form|issueFields|setFields)\.\*/.test(path);
    expect(wanted.filter((path) => !shown.has(path) && !isNamed(path))).toEqual([]);
  });

  test('shows examples that are valid', () => {
    const settings = parse(everyKey()) as { tracker: { auth: Record<string, unknown> } };
    const { token } = settings.tracker.auth;
    settings.tracker.auth = { token };
    const variables = [...everyKey().matchAll(/\$\{([A-Z_]+)\}/g)].map(([, name]) => String(name));
    const environment = Object.fromEntries(variables.map((name) => [name, 'x']));
    environment['SVIX_SECRET'] = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    environment['TRACKPORT_SECRET_KEY'] = Buffer.alloc(32).toString('base64');
    expect(() => loadConfig({ environment, settings })).not.toThrow();
  });

  test('explains every key right above it', () => {
    const explained = readManual(manual);
    expect(allKeyPaths().filter((path) => findExplained(explained, path) === undefined)).toEqual(
      [],
    );
  });
});

describe('config/schema.json', () => {
  test('is made from the schema: `npm test -- test/config/files.test.ts -u` writes it', async () => {
    await expect(renderJsonSchema(manual)).toMatchFileSnapshot('../../config/schema.json');
  });

  test('takes the manual and references, and refuses what is unknown', () => {
    const schema = JSON.parse(renderJsonSchema(manual)) as { $schema?: string };
    const validate = new Ajv2020({ strict: false }).compile(schema);
    const written = parse(manual) as { tracker: Record<string, unknown> };
    const tracker = { ...written.tracker, ...needed };
    expect(validate({ ...written, tracker })).toBe(true);
    expect(validate({ tracker, server: { port: '${PORT}' } })).toBe(true);
    expect(validate({ tracker, leads: { freshFor: '${FRESH_FOR}' } })).toBe(true);
    expect(validate({ tracker, server: { prot: 1 } })).toBe(false);
    expect(validate({ tracker, leads: { freshFor: 15 } })).toBe(false);
  });
});

function pathsOf(value: unknown, prefix = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => pathsOf(item, prefix));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, below]) => {
    const path = prefix === '' ? key : `${prefix}.${key}`;
    return [path, ...pathsOf(below, path)];
  });
}
