import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { allKeyPaths } from '#config/schema/key-tree.ts';
import { renderJsonSchema } from './json-schema.ts';
import { loadConfig } from '#config/load.ts';
import { findExplained, readManual } from './manual.ts';
import { configSchema } from '#config/schema/schema.ts';

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
