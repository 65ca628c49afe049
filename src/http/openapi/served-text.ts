/**
 * `/openapi.json` as it is served: the file that `trackport openapi` made of all routes, which the gate
 * holds against them. To make it anew takes a fifth of a second in which nothing else is served.
 */
import { readFile } from 'node:fs/promises';
import type { RouteOptions } from 'fastify';
import { programUrl } from '#shared/program.ts';
import { withUsedParts } from './components.ts';
import { type OpenApiDocument, operationKeysOf, operationsOf, renderDocument } from './document.ts';

/** What the file says of these routes; its own text where they are all that it describes. */
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
