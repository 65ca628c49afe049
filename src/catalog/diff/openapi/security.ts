import { isRecord } from '#shared/text/json.ts';
import {
  type At,
  type Document,
  type Entry,
  entryOf,
  listOf,
  membersOf,
  resolve,
} from './comparison.ts';

/** Credentials for an operation: schemes by their definitions, with their scopes. */
export function schemesIn(document: Document, operation: Entry): { at: At; sets: Set<string>[] } {
  const root = { value: document.root, at: [] };
  const own = entryOf(operation, 'security');
  const security = own.value === undefined ? entryOf(root, 'security') : own;
  const schemes = ['components/securitySchemes', 'securityDefinitions'].map((path) =>
    path.split('/').reduce(entryOf, root as Entry),
  );
  const sets = listOf(security).map((one) => {
    const words = membersOf(one).flatMap(([name, { value: scopes }]) => {
      const found = schemes
        .map((all) => resolve(document, entryOf(all, name)).value)
        .find(isRecord);
      const what = JSON.stringify(found ? schemeOf(found) : [name]);
      return [
        what,
        ...(Array.isArray(scopes) ? scopes.map((scope) => `${what} ${String(scope)}`) : []),
      ];
    });
    return new Set(words);
  });
  return { at: security.at, sets: sets.length > 0 ? sets : [new Set<string>()] };
}

/** Names of schemes and of headers are the same in all letters. */
function schemeOf({ type, in: place, name, scheme }: Record<string, unknown>): unknown[] {
  if (type === 'basic') return ['http', 'basic'];
  if (type === 'http') return [type, String(scheme).toLowerCase()];
  return [type, place, place === 'header' ? String(name).toLowerCase() : name];
}
