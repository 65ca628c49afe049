import type { OpenAPIV3_1 } from 'openapi-types';
import { type OpenApiDocument, operationsOf, responsesOf } from './document.ts';
import { ENTITY_TAGS } from '../requests/precondition.ts';
import { responseHeaders } from './parts.ts';

/** Header names by status, for each operation by its key (`get /api/v1/leads`). */
export type HeadersByOperation = Map<string, Readonly<Record<number, readonly string[]>>>;

/** From here on a response is a problem, which nobody may store. */
const PROBLEM_STATUS_MIN = 400;

const byStatus: Readonly<Record<number, readonly string[]>> = {
  401: ['WWW-Authenticate'],
  405: ['Allow'],
  429: ['Retry-After', 'RateLimit-Policy', 'RateLimit'],
  503: ['Retry-After'],
};

/** Headers that every response of a status has. */
export function headersOf(status: number, { isBearer }: { isBearer: boolean }): string[] {
  return [
    'X-Request-Id',
    ...(status >= PROBLEM_STATUS_MIN ? ['Cache-Control'] : []),
    ...(byStatus[status] ?? []),
    ...(isBearer && status === 403 ? ['WWW-Authenticate'] : []),
  ];
}

/**
 * The document with the headers of each response: the schema transform leaves none beside
 * `content`. Each header is explained once, as a component.
 */
export function addResponseHeaders(
  document: OpenApiDocument,
  named: HeadersByOperation,
): OpenApiDocument {
  const used = new Set<string>();
  for (const { key, status, security, response } of responsesOf(document)) {
    const names = [
      ...headersOf(status, { isBearer: security.some((scheme) => 'Bearer' in scheme) }),
      ...(named.get(key)?.[status] ?? []),
    ];
    for (const name of names) used.add(name);
    response.headers = Object.fromEntries(names.map(reference));
  }
  const headers = Object.entries(responseHeaders).filter(([name]) => used.has(name));
  return {
    ...document,
    components: { ...document.components, headers: Object.fromEntries(headers) },
  };
}

const ifNoneMatch: OpenAPIV3_1.ParameterObject = {
  in: 'header',
  name: 'If-None-Match',
  required: false,
  description: 'The `ETag` of an answer that the caller has: 304 when it is still the same.',
  schema: { type: 'string', pattern: ENTITY_TAGS.source },
};

/** The document with the header that conditional reads are made with, where a route responds with 304. */
export function addIfNoneMatch(document: OpenApiDocument): OpenApiDocument {
  for (const { operation } of operationsOf(document))
    if (operation.responses?.['304'])
      operation.parameters = [...(operation.parameters ?? []), ifNoneMatch];
  return document;
}

function reference(name: string) {
  if (!(name in responseHeaders)) throw new TypeError(`no description of the header ${name}`);
  return [name, { $ref: `#/components/headers/${name}` }] as const;
}
