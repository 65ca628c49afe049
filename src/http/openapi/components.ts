import { type OpenApiDocument, operationsOf } from './document.ts';

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
