import { escapePointer, valueAt } from '#shared/text/json.ts';

/** A `$ref` that leads nowhere: JSON Pointer of the object that holds it, and what it says. */
export type BrokenReference = { pointer: string; target: string };

/** Below these keys a document holds data of its own, in which `$ref` means nothing. */
const DATA_KEYS = new Set(['example', 'examples', 'default', 'enum', 'const', 'value']);

/**
 * The local references (`#/…`) of an OpenAPI document that lead nowhere. Other documents and named
 * anchors are not looked up.
 */
export function brokenReferences(document: object): BrokenReference[] {
  const broken: BrokenReference[] = [];
  const known = new Map<string, boolean>();
  const isResolved = (target: string): boolean => {
    const remembered = known.get(target);
    if (remembered !== undefined) return remembered;
    const found = isLocalTarget(document, target);
    known.set(target, found);
    return found;
  };
  const walk = (value: unknown, pointer: string): void => {
    if (typeof value !== 'object' || value === null) return;
    const target = (value as { $ref?: unknown }).$ref;
    if (typeof target === 'string' && !isResolved(target)) broken.push({ pointer, target });
    for (const [key, child] of Object.entries(value))
      if (!DATA_KEYS.has(key) && !key.startsWith('x-'))
        walk(child, `${pointer}/${escapePointer(key)}`);
  };
  walk(document, '');
  return broken;
}

function isLocalTarget(document: object, target: string): boolean {
  if (!target.startsWith('#/')) return true;
  try {
    return valueAt(document, decodeURIComponent(target.slice(1))) !== undefined;
  } catch {
    return false;
  }
}
