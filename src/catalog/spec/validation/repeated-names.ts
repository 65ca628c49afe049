import { escapePointer, isRecord } from '#shared/text/json.ts';
import type { SchemaError } from './schema-errors.ts';

/**
 * What no schema can tell of an OpenAPI document: paths that differ in the names of their parameters
 * alone, and operations with one id.
 */
export function repeatedNames(document: Readonly<Record<string, unknown>>): SchemaError[] {
  const errors: SchemaError[] = [];
  const first = new Map<string, string>();
  const note = (name: string, { what, at, keyword, message }: Noted): void => {
    const former = first.get(`${keyword} ${name}`);
    if (former === undefined) first.set(`${keyword} ${name}`, what);
    else errors.push({ instancePath: at, keyword, params: {}, message: message(former) });
  };
  for (const part of ['paths', 'webhooks'])
    for (const [path, item] of membersOf(document[part])) {
      const at = `/${part}/${escapePointer(path)}`;
      if (path.includes('{'))
        note(path.replaceAll(/\{[^{}]*\}/g, '{}'), {
          what: path,
          at,
          keyword: 'equivalent-path',
          message: (former) => `is the same path as ${former}: only names in braces differ`,
        });
      for (const [method, operation] of membersOf(item)) {
        const id = isRecord(operation) ? operation['operationId'] : undefined;
        if (typeof id === 'string')
          note(id, {
            what: `${method} ${path}`,
            at: `${at}/${method}/operationId`,
            keyword: 'duplicate-operation-id',
            message: (former) => `${id} is the operationId of ${former}, too`,
          });
      }
    }
  return errors;
}

type Noted = { what: string; at: string; keyword: string; message: (former: string) => string };

function membersOf(value: unknown): [string, unknown][] {
  return isRecord(value) ? Object.entries(value) : [];
}
