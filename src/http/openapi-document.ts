import type { OpenAPIV3_1 } from 'openapi-types';

/** An OpenAPI 3.1 document as a plain value. */
export type OpenApiDocument = OpenAPIV3_1.Document;

const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const;

/** Every response of a document; `key` names its operation (`get /api/v1/leads`). */
export function responsesOf(document: OpenApiDocument) {
  return Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item?.[method];
      return Object.entries(operation?.responses ?? {}).map(([status, response]) => ({
        key: `${method} ${path}`,
        status: Number(status),
        security: operation?.security ?? [],
        response: response as OpenAPIV3_1.ResponseObject,
      }));
    }),
  );
}
