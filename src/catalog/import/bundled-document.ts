import {
  decodePercent,
  escapePointer,
  isRecord,
  unescapeFragment,
  valueAt,
} from '#shared/text/json.ts';
import { SPEC_DEPTH_MAX } from '../version/artifact.ts';
import { kindBelow, type PlaceKind } from '../spec/places.ts';

/**
 * Knowledge of OpenAPI that a bundler of JSON Schema lacks: places that hold data, mappings of
 * discriminators, which name schemas, and places where no reference may stand.
 */

type Json = Record<string, unknown>;

/** True when a place, by its pointer (`#/…`), holds data, in which nothing is a reference. */
export function isDataPlace(document: Json, pointer: string, value: unknown): boolean {
  const path = pointer.split('/').slice(1);
  let kind: PlaceKind = 'object';
  for (const [at, part] of path.entries()) {
    const below = at === path.length - 1 ? value : {};
    // A list has indices, which are no names.
    if (!/^\d+$/.test(part) || kind !== 'object')
      kind = kindBelow(kind, unescapeFragment(part), below, document);
    if (kind === 'data') return true;
  }
  return false;
}

/** The schemas that a mapping names, as references: so they are followed. Changes the document. */
export function withMappedReferences<T>(node: T): T {
  for (const mapping of mappingsIn(node))
    for (const [word, named] of Object.entries(mapping))
      if (typeof named === 'string' && /^(?![a-z]+:).*(?:[#/]|\.(?:ya?ml|json)$)/i.test(named))
        mapping[word] = { $ref: named };
  return node;
}

function mappingsIn(node: unknown): Json[] {
  if (typeof node !== 'object' || node === null) return [];
  const { discriminator } = node as { discriminator?: unknown };
  const mapping = isRecord(discriminator) ? discriminator['mapping'] : undefined;
  const below = Object.values(node).flatMap(mappingsIn);
  return isRecord(mapping) ? [mapping, ...below] : below;
}

/** A bundled document as it may be published. Changes it. */
export function finishBundle(document: Json): Json {
  const moved = moveMapped(document);
  finish(document, { document, moved, kind: 'object', depth: 0 });
  return document;
}

/** From the pointer of a schema that was put into a mapping to where it went. */
type Moved = ReadonlyMap<string, string>;

/** Mappings name schemas again; one that is in a mapping alone becomes a definition. */
function moveMapped(document: Json): Moved {
  const moved = new Map<string, string>();
  const visit = (node: unknown, pointer: string): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [key, child] of Object.entries(node))
      visit(child, `${pointer}/${escapePointer(key)}`);
    const { discriminator } = node as { discriminator?: unknown };
    const mapping = isRecord(discriminator) ? discriminator['mapping'] : undefined;
    for (const [word, schema] of Object.entries(isRecord(mapping) ? mapping : {})) {
      if (!isRecord(schema)) continue;
      const { $ref } = schema;
      const at = `${pointer}/discriminator/mapping/${escapePointer(word)}`;
      const isReference = typeof $ref === 'string' && Object.keys(schema).length === 1;
      if (!isReference) moved.set(at, define(document, word, schema));
      (mapping as Json)[word] = isReference ? $ref : `#${moved.get(at)}`;
    }
  };
  visit(document, '');
  return moved;
}

function define(document: Json, word: string, schema: Json): string {
  const path = Object.hasOwn(document, 'swagger') ? ['definitions'] : ['components', 'schemas'];
  const schemas = path.reduce((node, name) => (node[name] ??= {}) as Json, document);
  const wanted = word.replaceAll(/[^\w.-]/g, '_');
  let name = wanted;
  for (let count = 2; Object.hasOwn(schemas, name); count += 1) name = `${wanted}${count}`;
  schemas[name] = schema;
  return `/${path.join('/')}/${name}`;
}

type Finishing = { document: Json; moved: Moved; kind: PlaceKind; depth: number };

function finish(node: unknown, state: Finishing): void {
  if (typeof node !== 'object' || node === null || state.kind === 'data') return;
  const holder = node as Json;
  if (typeof holder['$ref'] === 'string') holder['$ref'] = reference(holder['$ref'], state.moved);
  finishMapping(holder['discriminator'], state.moved);
  for (const key of Object.keys(holder)) {
    const kind = kindBelow(state.kind, key, holder[key], state.document);
    if (!Array.isArray(node) && NAMES.has(kind)) holder[key] = inlined(holder[key], state);
    if (state.depth < SPEC_DEPTH_MAX)
      finish(holder[key], { ...state, kind, depth: state.depth + 1 });
  }
}

const NAMES: ReadonlySet<PlaceKind> = new Set([
  'map',
  'extensible',
  'leaves',
  'components',
  'callbacks',
]);

/** Copies the target of a reference to a place of names, where no reference may stand. */
function inlined(value: unknown, { document, moved }: Finishing): unknown {
  const target = isRecord(value) ? value['$ref'] : undefined;
  if (typeof target !== 'string' || !target.startsWith('#/')) return value;
  const pointer = reference(target, moved).slice(1);
  const found = valueAt(document, decodePercent(pointer) ?? pointer);
  return isRecord(found) ? structuredClone(found) : value;
}

function finishMapping(discriminator: unknown, moved: Moved): void {
  const mapping = isRecord(discriminator) ? discriminator['mapping'] : undefined;
  if (!isRecord(mapping)) return;
  for (const [word, named] of Object.entries(mapping))
    if (typeof named === 'string') mapping[word] = reference(named, moved);
}

/** With what no address may have in percent, and where it leads to now. */
function reference(target: string, moved: Moved): string {
  if (!target.startsWith('#/')) return target;
  const pointer = decodePercent(target.slice(1)) ?? target.slice(1);
  const former = [...moved.keys()].find((at) => pointer === at || pointer.startsWith(`${at}/`));
  if (former !== undefined)
    return reference(`#${moved.get(former)}${encode(pointer.slice(former.length))}`, new Map());
  return target.replaceAll(/[^\w.~!$&'()*+,;=:@/?%#-]/gu, encodeURIComponent);
}

function encode(pointer: string): string {
  return encodeURI(pointer).replaceAll('#', '%23');
}
