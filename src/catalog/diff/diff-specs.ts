import { isRecord, lookUp, parseOwnJson } from '#shared/text/json.ts';
import {
  type AreAlike,
  type Change,
  type Changes,
  type Difference,
  differences,
  type Impact,
  orderChanges,
  pointerOf,
  toChange,
} from './changes.ts';
import {
  type At,
  type Comparison,
  type Document,
  isSamePlace,
  type Part,
  sidesOf,
  type Verdict,
} from './openapi/comparison.ts';
import { partsOf } from './openapi/operation-parts.ts';
import { settleSchemas } from './openapi/schema-rules.ts';
import { createAreAlikeIn, createTargets } from './openapi/targets.ts';

/** The specs as they are stored; undefined for none. */
export type SpecPair = { before: string | undefined; after: string | undefined };

/** Compares two specs. Only of OpenAPI documents anything is said to break or not to. */
export function diffSpecs({ before, after }: SpecPair): Changes {
  if (before === after) return { changes: [], truncated: false };
  const [former, latter] = [before, after].map((text) =>
    text === undefined ? undefined : read(text),
  );
  if (former === undefined || latter === undefined) return oneChange(former);
  const found = differences(former, latter);
  const isJudged = isOpenApi(former) && isOpenApi(latter);
  const changes = isJudged
    ? judge(former, latter, found)
    : found.map((difference) => toChange(difference, 'unclassified'));
  return orderChanges(changes, '/spec');
}

function oneChange(former: unknown): Changes {
  const kind = former === undefined ? ('added' as const) : ('removed' as const);
  return {
    changes: [{ path: '/spec', kind, impact: 'unclassified', text: kind }],
    truncated: false,
  };
}

function read(text: string): Record<string, unknown> {
  const value = parseOwnJson(text);
  return isRecord(value) ? value : {};
}

function isOpenApi(document: Record<string, unknown>): boolean {
  return typeof document['openapi'] === 'string' || typeof document['swagger'] === 'string';
}

type Json = Record<string, unknown>;

/**
 * Judges the changes between two OpenAPI documents: by rules, in their words, and where no rule speaks of a difference
 * by its place.
 */
function* judge(before: Json, after: Json, found: Iterable<Difference>): Generator<Change> {
  const verdicts = new Map<string, Verdict>();
  const say = (verdict: Verdict): void => {
    const key = verdict.at.join('\n');
    if (verdicts.get(key)?.impact !== 'breaking') verdicts.set(key, verdict);
  };
  const sides = { before: toDocument(before), after: toDocument(after) };
  const memory = { open: [], depth: 0, seen: new Set<string>(), fits: new Map<string, boolean>() };
  compareDocuments({ ...sides, say, areAlike: alikenessOf(sides), ...memory });
  for (const { at, ...verdict } of verdicts.values()) yield { path: pointerOf(at), ...verdict };
  const above = new Set([...verdicts.values()].flatMap(({ at }) => prefixesOf(at)));
  for (const difference of found) {
    const at = difference.at.at(-1) === '$ref' ? difference.at.slice(0, -1) : difference.at;
    const isSaid = above.has(at.join('\n')) || prefixesOf(at).some((key) => verdicts.has(key));
    if (!isSaid) yield toChange(difference, impactOf(difference, [sides.before, sides.after]));
  }
}

function toDocument(root: Json): Document {
  const { openapi } = root;
  const hasSiblings = typeof openapi === 'string' && !openapi.startsWith('3.0');
  const { targets, hasIds } = createTargets(root);
  const memory = { shapes: new Map(), keys: new WeakMap(), numbers: new Map() };
  return { root, hasSiblings, hasIds, targets, ...memory, reached: new Set() };
}

/** Words that another version reads in another way are not alike, nor are references within a schema with an `$id`. */
function alikenessOf({ before, after }: Record<'before' | 'after', Document>): AreAlike {
  const [isOld, isNew] = [before, after].map(({ root }) => Object.hasOwn(root, 'swagger'));
  const isOneWay = isOld === isNew && before.hasSiblings === after.hasSiblings;
  if (!isOneWay || before.hasIds || after.hasIds) return () => false;
  return createAreAlikeIn(before.root, after.root);
}

/** The places that a place stands in, and itself. */
function prefixesOf(at: At): string[] {
  return at.map((_name, index) => at.slice(0, index + 1).join('\n'));
}

/** Words for people, and what is shown to them. */
const PROSE = new Set(
  'description summary title example examples externalDocs info tags deprecated'.split(' '),
);
/** Words that no rule looks at, with all that stands below them. */
const OPEN = new Set(
  `default xml links servers operationId encoding host basePath schemes discriminator
   $dynamicRef contentSchema dependencies`.split(/\s+/),
);
/** Words below which the owner gives the names. */
const NAMES = new Set(
  'properties responses schemas definitions patternProperties headers paths enum'.split(' '),
);
const DEFINITIONS = new Set([
  'components',
  'definitions',
  'parameters',
  'responses',
  'securityDefinitions',
]);

/** Whatever hurts was said. A definition that no operation leads to may be used by others. */
function impactOf({ at }: Difference, documents: readonly Document[]): Impact {
  const words = at.filter((_word, index) => !NAMES.has(at[index - 1] ?? ''));
  if (words.some((word) => PROSE.has(word))) return 'compatible';
  if (words.some((word) => OPEN.has(word) || word.startsWith('x-'))) return 'unclassified';
  if (documents.some((document) => isBesideReference(document, at))) return 'unclassified';
  const length = at[0] === 'components' ? 3 : 2;
  const isWithin = DEFINITIONS.has(at[0] ?? '') && at.length > length;
  const name = at.slice(0, length).join('\n');
  return isWithin && !documents.some(({ reached }) => reached.has(name))
    ? 'unclassified'
    : 'compatible';
}

/** Before 3.1 nobody knows who reads what stands there. */
function isBesideReference({ root, hasSiblings }: Document, at: At): boolean {
  if (hasSiblings) return false;
  const above = lookUp(root, at.slice(0, -1));
  return at.at(-1) !== '$ref' && isRecord(above) && typeof above['$ref'] === 'string';
}

/** Says what of two OpenAPI documents hurts a client that was written for the first one. */
function compareDocuments(comparison: Comparison): void {
  const { before, after } = comparison;
  const [isOld, isNew] = [before, after].map(({ root }) => Object.hasOwn(root, 'swagger'));
  const [former, latter] = [before, after].map((one) => partsOf(one, isOld !== isNew));
  compareServers(comparison);
  compareParts(comparison, former ?? [], latter ?? [], []);
  settleSchemas(comparison);
}

function compareParts(comparison: Comparison, before: Part[], after: Part[], home: At): void {
  const [former, latter] = [byKey(before), byKey(after)];
  for (const was of former.values()) {
    const all = partsLike(was, latter);
    for (const is of all) comparePair(comparison, was, is, home);
    if (all.length === 0 && was.removed)
      comparison.say({ at: was.at, kind: 'removed', impact: was.removed, text: goneText(was) });
  }
  for (const is of latter.values())
    if (is.added && partsLike(is, former).length === 0) {
      const text = `the ${is.label} ${is.added === 'breaking' ? 'is required' : 'can come'} now`;
      comparison.say({ at: is.at, kind: 'added', impact: is.added, text });
    }
}

function byKey(parts: readonly Part[]): ReadonlyMap<string, Part> {
  return new Map(parts.map((part) => [keyOf(part), part]));
}

const keyOf = ({ key, label }: Part): string => key ?? label;

/** The part that takes its place; of a response also all parts of which it took the place. */
function partsLike(part: Part, parts: ReadonlyMap<string, Part>): Part[] {
  const key = keyOf(part);
  const found = [key, ...(part.also ?? [])].map((one) => parts.get(one)).find(Boolean);
  if (found) return [found];
  if (part.direction !== 'response') return [];
  return [...parts.values()].filter(({ also }) => also?.includes(key));
}

function goneText({ label, direction, removed }: Part): string {
  if (removed === 'unclassified') return `the ${label} is gone: it may be ignored, or refused`;
  return `the ${label} is ${direction === 'request' ? 'not accepted any more' : 'gone'}`;
}

/** `home`: where the owner stands. */
function comparePair(comparison: Comparison, was: Part, is: Part, home: At): void {
  if (is.whole && comparison.areAlike(was.whole, is.whole)) return;
  for (const [at, text] of losses(was, is))
    comparison.say({ at, kind: 'changed', impact: 'breaking', text });
  if (was.schema && is.schema) {
    const site = isSamePlace(was.schema, is.schema) ? is.schema.at : home;
    const { direction, way } = is;
    comparison.open.push({ direction, ...way, site, before: was.schema, after: is.schema });
  }
  compareParts(comparison, was.parts?.() ?? [], is.parts?.() ?? [], is.at);
}

function* losses(was: Part, { at, direction, label, ...is }: Part): Generator<[At, string]> {
  const { inner, outer } = sidesOf(direction, was.isRequired, is.isRequired);
  const lack = direction === 'request' ? 'is required now' : 'can be missing now';
  if (outer === true && inner !== true) yield [[...at, 'required'], `the ${label} ${lack}`];
  if (isOtherStyle(was, is)) yield [at, `the ${label} is written in another way`];
  const isEnough = (brought: ReadonlySet<string>): boolean | undefined =>
    is.needs?.sets.some((set) => [...set].every((one) => brought.has(one)));
  if (is.needs && was.needs?.sets.every(isEnough) !== true)
    yield [is.needs.at, 'credentials that were enough are not any more'];
}

function isOtherStyle({ style: was }: Part, { style: is }: Pick<Part, 'style'>): boolean {
  if (!was || !is) return false;
  const isOfLists = was.ofLists !== is.ofLists && (was.canBeList() || is.canBeList());
  return was.of !== is.of || isOfLists;
}

type Server = { url: string; at: At };

/** A client knows the address that it was written for. */
function compareServers({ before, after, say }: Comparison): void {
  const now = serversOf(after.root);
  if (now.length === 0) return;
  for (const { url, at } of serversOf(before.root)) {
    if (now.some((one) => isSameServer(one.url, url))) continue;
    const text = `the server ${url} is not there any more`;
    say({ at, kind: 'changed', impact: 'breaking', text });
  }
}

function serversOf(document: Json): Server[] {
  if (Object.hasOwn(document, 'swagger')) return oldServersOf(document);
  const { servers } = document;
  return (Array.isArray(servers) ? servers : []).flatMap((server: unknown, index) =>
    isRecord(server) && typeof server['url'] === 'string'
      ? [{ url: server['url'], at: ['servers', String(index), 'url'] }]
      : [],
  );
}

/** In Swagger 2.0 an address stands in three places. */
function oldServersOf({ schemes, host, basePath }: Json): Server[] {
  if (host === undefined && basePath === undefined) return [];
  const path = typeof basePath === 'string' ? basePath : '';
  if (typeof host !== 'string') return [{ url: path, at: ['basePath'] }];
  const all: unknown[] = Array.isArray(schemes) && schemes.length > 0 ? schemes : [''];
  return all.map((scheme) => ({
    url: `${scheme === '' ? '' : `${String(scheme)}:`}//${host}${path}`,
    at: ['host'],
  }));
}

/** A URL without a scheme or a host can have that of the other. */
function isSameServer(one: string, other: string): boolean {
  const [left, right] = [one, other].map((url) => {
    const [, scheme = '', host = '', path = ''] =
      /^(?:([a-z][a-z\d+.-]*):)?(?:\/\/([^/]*))?(.*)$/i.exec(url.replaceAll(/\{[^{}]*\}/g, '{}')) ??
      [];
    return [scheme.toLowerCase(), host.toLowerCase(), path.replace(/\/+$/, '')];
  }) as [string[], string[]];
  return left.every((part, at) => {
    const isOpen = at < 2 && (part === '' || right[at] === '');
    return isOpen || part === right[at];
  });
}
