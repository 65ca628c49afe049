import { decodePercent, escapePointer, isRecord, valueAt } from '#shared/text/json.ts';
import { kindBelow, type PlaceKind } from '../places.ts';

/** A `$ref` that leads nowhere: JSON Pointer of the object that holds it, and what it says. */
type BrokenReference = { pointer: string; target: string };

type Reference = BrokenReference & { root: object };

/** `root`: what a local reference leads through: the document, or the schema with an `$id` that it stands in. */
type Place = { root: object; pointer: string };

type Found = { references: Reference[]; anchors: Map<object, Set<unknown>> };

/**
 * The local references (`#…`) of an OpenAPI or AsyncAPI document that lead nowhere, or to themselves. Other
 * documents are not looked up.
 */
export function brokenReferences(document: Record<string, unknown>): BrokenReference[] {
  const found: Found = { references: [], anchors: new Map() };
  walk(document, { root: document, pointer: '' }, { document, found, kind: 'object' });
  const known = new Map<object, Map<string, boolean>>();
  return found.references.filter(({ root, target }) => {
    const ofRoot = known.get(root) ?? new Map<string, boolean>();
    known.set(root, ofRoot);
    const isFine = ofRoot.get(target) ?? leadsSomewhere(root, target, found);
    ofRoot.set(target, isFine);
    return !isFine;
  });
}

type Walk = { document: Record<string, unknown>; found: Found; kind: PlaceKind };

function walk(value: unknown, { root: outer, pointer }: Place, state: Walk): void {
  if (state.kind === 'data' || typeof value !== 'object' || value === null) return;
  const isOwn = state.kind === 'object' && isRecord(value);
  const root = isOwn && isResource(value) ? value : outer;
  if (isOwn || state.kind === 'leaf') note(value, { root, pointer }, state);
  for (const [key, child] of Object.entries(value)) {
    const kind = kindBelow(state.kind, key, child, state.document);
    walk(child, { root, pointer: `${pointer}/${escapePointer(key)}` }, { ...state, kind });
  }
}

function isResource({ $id }: Record<string, unknown>): boolean {
  return typeof $id === 'string' && !$id.startsWith('#');
}

function note(value: unknown, { root, pointer }: Place, { found }: Walk): void {
  if (!isRecord(value)) return;
  const { $ref: target, $anchor, $dynamicAnchor } = value;
  if (typeof target === 'string' && target.startsWith('#'))
    found.references.push({ pointer, target, root });
  const anchors = found.anchors.get(root) ?? new Set();
  found.anchors.set(root, anchors.add($anchor).add($dynamicAnchor));
}

function leadsSomewhere(root: object, first: string, { anchors }: Found): boolean {
  const passed = new Set<string>();
  let target = first;
  for (;;) {
    if (passed.has(target)) return false;
    passed.add(target);
    const fragment = decodePercent(target.slice(1));
    if (fragment === undefined) return false;
    if (fragment !== '' && !fragment.startsWith('/'))
      return anchors.get(root)?.has(fragment) === true;
    const value = valueAt(root, fragment);
    if (value === undefined) return false;
    const next = isRecord(value) && !isResource(value) ? value['$ref'] : undefined;
    if (typeof next !== 'string' || !next.startsWith('#')) return true;
    target = next;
  }
}
