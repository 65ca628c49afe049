import { errorCodes } from '#shared/outcomes/problems.ts';
import { describe, expect, test } from 'vitest';
import { type JsonObject, operationsOf, readOpenApi } from '../../support/http/openapi.ts';

const { text, document } = readOpenApi();
const raw = JSON.parse(text) as {
  paths: Record<string, Record<string, { parameters?: object[]; responses: object }>>;
  components: { securitySchemes: Record<string, { in?: string; name?: string }> };
};

const BIGGEST_EXACT_INTEGER = 9_007_199_254_740_991;

/** Every object of a JSON value, with the path that leads there. */
function* objectsOf(value: unknown, path = ''): Generator<[path: string, object: JsonObject]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [path, value as JsonObject];
  for (const [key, child] of Object.entries(value)) yield* objectsOf(child, `${path}/${key}`);
}

/** The schemas of what callers send: parameters and bodies, references followed. */
function sentSchemas(): [place: string, schema: unknown][] {
  return operationsOf(document).flatMap(({ operation }) => [
    ...(operation.parameters ?? []).map(({ name, schema }): [string, unknown] => [
      `${operation.operationId} ${name}`,
      schema,
    ]),
    ...Object.values(operation.requestBody?.content ?? {}).flatMap(({ schema }) =>
      bodySchemas(schema).map((one): [string, unknown] => [`${operation.operationId} body`, one]),
    ),
  ]);
}

function bodySchemas(schema: JsonObject, seen = new Set<unknown>()): JsonObject[] {
  if (seen.has(schema)) return [];
  seen.add(schema);
  const references = [...objectsOf(schema)].flatMap(([, { $ref }]) =>
    typeof $ref === 'string' ? [$ref.replace('#/components/schemas/', '')] : [],
  );
  const named = references.map((name) => document.components.schemas[name] as JsonObject);
  return [schema, ...named.flatMap((one) => bodySchemas(one, seen))];
}

describe('for generators of clients, openapi.json', () => {
  test('has no schema with one shape to read and another to write', () => {
    expect(text).not.toMatch(/"(?:readOnly|writeOnly)"/);
  });

  test('has no default in a body, which some generators take for a field that is required', () => {
    const preset = Object.entries(document.components.schemas).flatMap(([name, schema]) =>
      [...objectsOf(schema['properties'], name)].filter(([, { default: value }]) => value),
    );
    expect(preset).toEqual([]);
  });

  test('bounds no number by what a double can hold', () => {
    const bounded = [...objectsOf(raw)].filter(([, { minimum, maximum }]) =>
      [minimum, maximum].some((bound) => Math.abs(Number(bound ?? 0)) >= BIGGEST_EXACT_INTEGER),
    );
    expect(bounded.map(([path]) => path)).toEqual([]);
  });

  test('spells the name of each header in one way', () => {
    const names = new Set([
      ...operationsOf(document).flatMap(({ operation: { parameters = [], responses } }) => [
        ...parameters.filter((one) => one.in === 'header').map(({ name }) => name),
        ...Object.values(responses).flatMap(({ headers = {} }) => Object.keys(headers)),
      ]),
      ...Object.values(raw.components.securitySchemes).flatMap(({ in: place, name }) =>
        place === 'header' && name !== undefined ? [name] : [],
      ),
    ]);
    const folded = [...names].map((name) => name.toLowerCase());
    expect(folded.length).toBeGreaterThan(15);
    expect(folded.filter((name, at) => folded.indexOf(name) !== at)).toEqual([]);
    expect([...names].filter((name) => !/^[A-Z]/.test(name))).toEqual([]);
  });

  test('limits every text, list and number that a client sends', () => {
    const unlimited = sentSchemas().flatMap(([place, schema]) =>
      [...objectsOf(schema, place)].filter(
        ([path, part]) => !/examples?\//.test(path) && !isLimited(part),
      ),
    );
    expect(unlimited.map(([path]) => path)).toEqual([]);
  });

  test('requires no body where none is needed', () => {
    const bodies = operationsOf(document).flatMap(({ operation: { operationId, requestBody } }) =>
      requestBody && requestBody.required !== true ? [operationId] : [],
    );
    expect(bodies).toEqual(['addKey', 'rotateKey']);
  });

  test('names every code of a problem', () => {
    expect(document.components.schemas['Problem']).toMatchObject({
      properties: { code: { enum: errorCodes } },
    });
  });

  test('says by a pattern what instants and durations look like', () => {
    const named = sentSchemas().flatMap(([place, schema]) => [...objectsOf({ [place]: schema })]);
    const asked = named.flatMap(([path, schema]) =>
      /(?:since|sunset|expires|overlap)$/.test(path) ? [schema['pattern']] : [],
    );
    expect(asked.length).toBeGreaterThan(6);
    for (const pattern of asked) expect(pattern).toMatch(/^\^.+\$$/);
    const instant = new RegExp(String(asked[0]), 'v');
    for (const text of ['2026-11-21', '2026-11-21T08:00:00Z', '2026-11-21T08:00:00.5+01:00'])
      expect(text).toMatch(instant);
    expect('yesterday').not.toMatch(instant);
  });

  test('has no pattern that nobody can read', () => {
    const patterns = [...objectsOf(raw)].map(([, { pattern = '' }]) => String(pattern));
    expect(patterns.filter((pattern) => pattern.length > 100)).toEqual([]);
  });

  test('writes no parameter and no problem twice', () => {
    const operations = Object.values(raw.paths).flatMap((item) => Object.values(item));
    const parameters = operations.flatMap((one) => one.parameters ?? []).map(toText);
    const problems = operations
      .flatMap(({ responses }) => Object.entries(responses))
      .flatMap(([status, response]) => (Number(status) >= 400 ? [toText(response)] : []));
    const written = [...parameters, ...problems].filter(
      (one) => !one.includes('"$ref":"#/components/parameters'),
    );
    const repeated = written.filter((one, at) => written.indexOf(one) !== at);
    expect(repeated.filter((one) => !/^\{"\$ref":"[^"]+"\}$/.test(one))).toEqual([]);
    expect(problems.every((one) => one.startsWith('{"$ref":"#/components/responses/'))).toBe(true);
  });
});

function toText(value: unknown): string {
  return JSON.stringify(value);
}

const limits: Readonly<Record<string, readonly string[]>> = {
  string: ['maxLength', 'pattern', 'enum', 'const', 'format'],
  array: ['maxItems'],
  integer: ['maximum', 'minimum'],
  number: ['maximum', 'minimum'],
};

function isLimited(schema: JsonObject): boolean {
  const names = limits[String(schema['type'])] ?? [];
  return names.length === 0 || names.some((name) => name in schema);
}
