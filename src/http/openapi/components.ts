import { type OpenApiDocument, operationsOf } from './document.ts';

const SCHEMAS = '#/components/schemas/';
const INPUT = 'Input';

/**
 * The document without what nothing refers to, its schemas in order, each as `complete` makes it. Each registered
 * schema comes twice, as `X` for responses and `XInput` for requests: where only the latter is used, it takes the name.
 */
export function tidyComponents(
  document: OpenApiDocument,
  complete: (name: string, schema: object) => object,
): OpenApiDocument {
  const tidy = withUsedParts(document);
  const used = new Set(Object.keys(tidy.components?.schemas ?? {}).sort());
  const shorten = (name: string): string => {
    const short = name.endsWith(INPUT) ? name.slice(0, -INPUT.length) : name;
    return used.has(short) ? name : short;
  };
  const text = JSON.stringify(tidy, (_key, value: unknown) =>
    typeof value === 'string' && value.startsWith(SCHEMAS)
      ? SCHEMAS + shorten(value.slice(SCHEMAS.length))
      : value,
  );
  const copy = JSON.parse(text) as OpenApiDocument;
  const schemas = [...used].map((name) => {
    const short = shorten(name);
    return [short, complete(short, copy.components?.schemas?.[name] ?? {})];
  });
  return { ...copy, components: { ...copy.components, schemas: Object.fromEntries(schemas) } };
}

/** The document without the tags, security schemes and other components that no operation uses. */
export function withUsedParts(document: OpenApiDocument): OpenApiDocument {
  const used = usedComponents(document);
  const components = Object.entries(document.components ?? {}).map(([kind, parts]) => [
    kind,
    Object.fromEntries(Object.entries(parts).filter(([name]) => used.has(`${kind}/${name}`))),
  ]);
  return {
    ...document,
    tags: document.tags?.filter(({ name }) => hasOperation(document, name)) ?? [],
    components: {
      ...Object.fromEntries(components),
      securitySchemes: usedSecuritySchemes(document),
    },
  };
}

/** Components that can be reached from the paths, such as `schemas/Lead`. */
function usedComponents({ paths, components = {} }: OpenApiDocument): Set<string> {
  const used = new Set<string>();
  const waiting: unknown[] = [paths];
  while (waiting.length > 0) {
    for (const [kind, name] of referencesIn(waiting.pop())) {
      if (used.has(`${kind}/${name}`)) continue;
      used.add(`${kind}/${name}`);
      waiting.push((components as Record<string, Record<string, unknown>>)[kind]?.[name]);
    }
  }
  return used;
}

function referencesIn(part: unknown): [kind: string, name: string][] {
  const found = JSON.stringify(part ?? null).matchAll(/"\$ref":"#\/components\/(\w+)\/([^"]+)"/g);
  return [...found].map(([, kind = '', name = '']) => [kind, name]);
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
