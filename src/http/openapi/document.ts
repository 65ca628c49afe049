/**
 * `/openapi.json` as it is served: the file that `trackport openapi` made of all routes, which the gate
 * holds against them. To make it anew takes a fifth of a second in which nothing else is served.
 */
import type { RouteOptions } from 'fastify';
import type { OpenAPIV3_1 } from 'openapi-types';
import { readFile } from 'node:fs/promises';
import { programUrl } from '#shared/program.ts';

/** An OpenAPI 3.1 document as a plain value. */
export type OpenApiDocument = OpenAPIV3_1.Document;

const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const;

/** Every operation of a document; `key` names it (`get /api/v1/leads`). */
export function operationsOf(document: OpenApiDocument) {
  return Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item?.[method];
      return operation ? [{ key: `${method} ${path}`, path, operation }] : [];
    }),
  );
}

/** The keys of a route's operations: `get /api/v1/leads/{leadId}`. */
export function operationKeysOf({ method, url }: Pick<RouteOptions, 'method' | 'url'>): string[] {
  const path = url.replaceAll(/:([^/]+)/g, '{$1}');
  return [method].flat().map((name) => `${name.toLowerCase()} ${path}`);
}

/** The text of a document, as it is served and committed. */
export function renderDocument(document: OpenApiDocument): string {
  return `${JSON.stringify(document, undefined, 2)}\n`;
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

/** The file's text on these routes; its whole text where they are all that it describes. */
export async function servedText(routes: readonly RouteOptions[]): Promise<string> {
  const text = await readFile(programUrl('openapi.json'), 'utf8');
  const document = JSON.parse(text) as OpenApiDocument;
  const served = new Set(routes.flatMap(operationKeysOf));
  const isWhole = operationsOf(document).every(({ key }) => served.has(key));
  return isWhole ? text : renderDocument(withUsedParts(withOperations(document, served)));
}

function withOperations(document: OpenApiDocument, served: ReadonlySet<string>): OpenApiDocument {
  const paths = Object.entries(document.paths ?? {}).map(([path, item]) => {
    const operations = Object.entries(item ?? {});
    return [path, operations.filter(([method]) => served.has(`${method} ${path}`))] as const;
  });
  return {
    ...document,
    paths: Object.fromEntries(
      paths
        .filter(([, operations]) => operations.length > 0)
        .map(([path, operations]) => [path, Object.fromEntries(operations)]),
    ),
  };
}
