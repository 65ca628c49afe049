import { operationsOf } from './document.ts';
import type { OpenApiDocument } from './document.ts';

const SCHEMAS = '#/components/schemas/';
const INPUT = 'Input';

/**
 * The document without components that nothing refers to. Each registered schema comes twice, as
 * `X` for responses and `XInput` for requests: where only the latter is used, it takes the name.
 */
export function tidyComponents(document: OpenApiDocument): OpenApiDocument {
  const used = usedSchemas(document);
  const schemas = Object.entries(document.components?.schemas ?? {})
    .filter(([name]) => used.has(name))
    .sort(([left], [right]) => (left < right ? -1 : 1));
  const tidy: OpenApiDocument = {
    ...document,
    tags: document.tags?.filter(({ name }) => hasOperation(document, name)) ?? [],
    components: {
      ...document.components,
      schemas: Object.fromEntries(schemas),
      securitySchemes: usedSecuritySchemes(document),
    },
  };
  return shortenNames(tidy, used);
}

/** Names of schemas that can be reached from the paths. */
function usedSchemas(document: OpenApiDocument): Set<string> {
  const used = new Set<string>();
  const waiting: unknown[] = [document.paths];
  while (waiting.length > 0) {
    for (const name of referencesIn(waiting.pop())) {
      if (used.has(name)) continue;
      used.add(name);
      waiting.push(document.components?.schemas?.[name]);
    }
  }
  return used;
}

function referencesIn(part: unknown): string[] {
  const found = JSON.stringify(part ?? null).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g);
  return [...found].map((match) => match[1] ?? '');
}

function shortenNames(document: OpenApiDocument, used: Set<string>): OpenApiDocument {
  const renamed = new Map(
    [...used]
      .filter((name) => name.endsWith(INPUT) && !used.has(name.slice(0, -INPUT.length)))
      .map((name) => [name, name.slice(0, -INPUT.length)]),
  );
  const shorten = (_key: string, value: unknown): unknown => {
    if (typeof value !== 'string' || !value.startsWith(SCHEMAS)) return value;
    const name = value.slice(SCHEMAS.length);
    return SCHEMAS + (renamed.get(name) ?? name);
  };
  const copy = JSON.parse(JSON.stringify(document, shorten)) as OpenApiDocument;
  const schemas = Object.entries(copy.components?.schemas ?? {}).map(
    ([name, schema]) => [renamed.get(name) ?? name, schema] as const,
  );
  return { ...copy, components: { ...copy.components, schemas: Object.fromEntries(schemas) } };
}

function hasOperation(document: OpenApiDocument, tag: string): boolean {
  return operationsOf(document).some(({ operation }) => operation.tags?.includes(tag));
}

function usedSecuritySchemes(document: OpenApiDocument) {
  const used = new Set(
    operationsOf(document).flatMap(({ operation: { security = [] } }) =>
      security.flatMap(Object.keys),
    ),
  );
  const all = Object.entries(document.components?.securitySchemes ?? {});
  return Object.fromEntries(all.filter(([name]) => used.has(name)));
}
