import type { RouteOptions } from 'fastify';
import type { OpenAPIV3_1 } from 'openapi-types';

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
