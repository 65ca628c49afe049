import type { OpenAPIV3_1 } from 'openapi-types';

/** An OpenAPI 3.1 document as a plain value. */
export type OpenApiDocument = OpenAPIV3_1.Document;
