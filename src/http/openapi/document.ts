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

/** Every response of a document, none of which is a reference yet. */
export function responsesOf(document: OpenApiDocument) {
  return operationsOf(document).flatMap(({ key, operation }) =>
    Object.entries(operation.responses ?? {}).map(([status, response]) => ({
      key,
      status: Number(status),
      security: operation.security ?? [],
      response: response as OpenAPIV3_1.ResponseObject,
    })),
  );
}

/** The text of a document, as it is served and committed. */
export function renderDocument(document: OpenApiDocument): string {
  return `${JSON.stringify(document, undefined, 2)}\n`;
}
