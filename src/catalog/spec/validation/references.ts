import { escapePointer, isRecord, valueAt } from '#shared/text/json.ts';

/** A `$ref` that leads nowhere: JSON Pointer of the object that holds it, and what it says. */
export type BrokenReference = { pointer: string; target: string };

/** Fields that hold data of their own, in which `$ref` means nothing. */
const DATA = new Set(['example', 'default', 'enum', 'const']);
/** Fields whose members have names that the owner chose. */
const MAPS = new Set(
  `paths webhooks pathItems responses content headers callbacks additionalOperations encoding variables
   schemas requestBodies parameters securitySchemes mediaTypes properties patternProperties definitions $defs
   dependentSchemas dependencies channels servers operations messages`.split(/\s+/),
);
/** Of these the members can be references; what is in them is data. */
const LEAVES = new Set(['examples', 'links']);
/** Maps that may have extensions among their members. */
const EXTENSIBLE = new Set(['paths', 'responses']);

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
  walk(document, { root: document, pointer: '' }, { document, found });
  const known = new Map<object, Map<string, boolean>>();
  return found.references.filter(({ root, target }) => {
    const ofRoot = known.get(root) ?? new Map<string, boolean>();
    known.set(root, ofRoot);
    const isFine = ofRoot.get(target) ?? leadsSomewhere(root, target, found);
    ofRoot.set(target, isFine);
    return !isFine;
  });
}

type Walk = { document: Record<string, unknown>; found: Found };

/** An object whose fields the standard names, or a list of such. */
function walk(value: unknown, { root: outer, pointer }: Place, state: Walk): void {
  if (Array.isArray(value))
    for (const [at, one] of value.entries())
      walk(one, { root: outer, pointer: `${pointer}/${at}` }, state);
  if (!isRecord(value)) return;
  const root = isResource(value) ? value : outer;
  note(value, { root, pointer }, state);
  for (const [key, child] of Object.entries(value)) {
    if (DATA.has(key) || key.startsWith('x-')) continue;
    const below = { root, pointer: `${pointer}/${escapePointer(key)}` };
    if (key === 'components') walkComponents(child, below, state);
    else if (LEAVES.has(key)) noteMembers(child, below, state);
    else if (isMap(key, child, state)) walkMap(child, below, state, EXTENSIBLE.has(key));
    else walk(child, below, state);
  }
}

function isResource({ $id }: Record<string, unknown>): boolean {
  return typeof $id === 'string' && !$id.startsWith('#');
}

/** The headers of a message of AsyncAPI are one schema. */
function isMap(key: string, value: unknown, { document }: Walk): value is Record<string, unknown> {
  const isSchema = key === 'headers' && Object.hasOwn(document, 'asyncapi');
  return MAPS.has(key) && isRecord(value) && !isSchema;
}

function walkComponents(components: unknown, { root, pointer }: Place, state: Walk): void {
  for (const [kind, map] of membersOf(components)) {
    const below = { root, pointer: `${pointer}/${escapePointer(kind)}` };
    if (LEAVES.has(kind)) noteMembers(map, below, state);
    else if (!kind.startsWith('x-')) walkMap(map, below, state);
  }
}

function walkMap(map: unknown, { root, pointer }: Place, state: Walk, isExtensible = false): void {
  const isOfCallbacks = pointer.endsWith('/callbacks');
  for (const [name, member] of membersOf(map)) {
    if (isExtensible && name.startsWith('x-')) continue;
    const below = { root, pointer: `${pointer}/${escapePointer(name)}` };
    const isCallback = isOfCallbacks && isRecord(member) && typeof member['$ref'] !== 'string';
    if (isCallback) walkMap(member, below, state, true);
    else walk(member, below, state);
  }
}

/** The lists of this name, and what Swagger 2.0 has here, are data. */
function noteMembers(map: unknown, { root, pointer }: Place, state: Walk): void {
  if (Object.hasOwn(state.document, 'swagger')) return;
  for (const [name, member] of membersOf(map))
    note(member, { root, pointer: `${pointer}/${escapePointer(name)}` }, state);
}

function note(value: unknown, { root, pointer }: Place, { found }: Walk): void {
  if (!isRecord(value)) return;
  const { $ref: target, $anchor, $dynamicAnchor } = value;
  if (typeof target === 'string' && target.startsWith('#'))
    found.references.push({ pointer, target, root });
  const anchors = found.anchors.get(root) ?? new Set();
  found.anchors.set(root, anchors.add($anchor).add($dynamicAnchor));
}

function membersOf(value: unknown): [string, unknown][] {
  return isRecord(value) ? Object.entries(value) : [];
}

function leadsSomewhere(root: object, first: string, { anchors }: Found): boolean {
  const passed = new Set<string>();
  let target = first;
  for (;;) {
    if (passed.has(target)) return false;
    passed.add(target);
    const fragment = decode(target.slice(1));
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

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
