import type { OpenApiDocument } from './openapi-document.ts';
import { responseHeaders } from './schemas/openapi-parts.ts';

/** Header names by status, for each operation by its key (`get /api/v1/leads`). */
export type HeadersByOperation = Map<string, Readonly<Record<number, readonly string[]>>>;

const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const;

/** Headers that every answer of a status has. */
const byStatus: Readonly<Record<string, readonly string[]>> = {
  '401': ['WWW-Authenticate'],
  '405': ['Allow'],
  '429': ['Retry-After'],
  '503': ['Retry-After'],
};

/**
 * The document with the headers of each response: the schema transform keeps none beside
 * `content`. Each header is explained once, as a component.
 */
export function addResponseHeaders(
  document: OpenApiDocument,
  named: HeadersByOperation,
): OpenApiDocument {
  const used = new Set<string>();
  for (const [path, item] of Object.entries(document.paths ?? {})) {
    for (const method of METHODS) {
      const ofOperation = named.get(`${method} ${path}`) ?? {};
      for (const [status, response] of Object.entries(item?.[method]?.responses ?? {})) {
        const names = [
          'X-Request-Id',
          ...(byStatus[status] ?? []),
          ...(ofOperation[Number(status)] ?? []),
        ];
        for (const name of names) used.add(name);
        Object.assign(response, { headers: Object.fromEntries(names.map(reference)) });
      }
    }
  }
  const headers = Object.entries(responseHeaders).filter(([name]) => used.has(name));
  return {
    ...document,
    components: { ...document.components, headers: Object.fromEntries(headers) },
  };
}

function reference(name: string) {
  if (!(name in responseHeaders)) throw new TypeError(`no description of the header ${name}`);
  return [name, { $ref: `#/components/headers/${name}` }] as const;
}
