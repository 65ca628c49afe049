/** Kinds of documents and of the places in them, as far as checks and comparisons have to know them. */
import { isRecord } from '#shared/text/json.ts';

/** Kind of a document, as it declares itself. */
export type SpecKind = 'openapi' | 'asyncapi' | 'other';

/** Looks at the document's own word: `openapi` or `swagger`, `asyncapi`. */
export function specKindOf(document: unknown): SpecKind {
  if (typeof document !== 'object' || document === null) return 'other';
  if (Object.hasOwn(document, 'openapi') || Object.hasOwn(document, 'swagger')) return 'openapi';
  return Object.hasOwn(document, 'asyncapi') ? 'asyncapi' : 'other';
}

/** Fields that hold data of their own, in which `$ref` means nothing. */
const DATA = new Set(['example', 'default', 'enum', 'const']);
/** Fields whose members have names that the owner chose. */
const MAPS = new Set(
  `webhooks pathItems content headers additionalOperations encoding variables schemas requestBodies parameters
   securitySchemes mediaTypes properties patternProperties definitions $defs dependentSchemas dependencies
   channels servers operations messages`.split(/\s+/),
);
/** Of these the members can be references; what is in them is data. */
const LEAVES = new Set(['examples', 'links']);
/** Maps that may have extensions among their members. */
const EXTENSIBLE = new Set(['paths', 'responses']);

/**
 * Kind of a place of an OpenAPI or AsyncAPI document. `object`: its fields are the standard's (or it
 * is a list of such). `leaf`: it can be a reference, but has no others in it. `data`: there are no references.
 * The others hold members whose names are the owner's.
 */
export type PlaceKind =
  | 'object'
  | 'leaf'
  | 'data'
  | 'map'
  | 'extensible'
  | 'callbacks'
  | 'leaves'
  | 'components';

type Json = Readonly<Record<string, unknown>>;

/** Kind of the place at a name, or an index, in a place; `document` is the whole. */
export function kindBelow(
  above: PlaceKind,
  key: string,
  value: unknown,
  document: Json,
): PlaceKind {
  if (WITH_EXTENSIONS.has(above) && key.startsWith('x-')) return 'data';
  if (above === 'object') return DATA.has(key) ? 'data' : kindOfField(key, value, document);
  if (above === 'components') return kindOfComponents(key);
  const isReference = isRecord(value) && typeof value['$ref'] === 'string';
  if (above === 'callbacks') return isReference ? 'object' : 'extensible';
  if (above === 'leaves') return 'leaf';
  return above === 'map' || above === 'extensible' ? 'object' : 'data';
}

const WITH_EXTENSIONS: ReadonlySet<PlaceKind> = new Set(['object', 'components', 'extensible']);

function kindOfField(key: string, value: unknown, document: Json): PlaceKind {
  if (LEAVES.has(key)) {
    // The lists of this name, and what Swagger 2.0 has here, are data.
    return Array.isArray(value) || Object.hasOwn(document, 'swagger') ? 'data' : 'leaves';
  }
  if (Array.isArray(value)) return 'object';
  if (key === 'components' || key === 'callbacks') return key;
  if (EXTENSIBLE.has(key)) return 'extensible';
  // The headers of a message of AsyncAPI are one schema.
  const isSchema = key === 'headers' && Object.hasOwn(document, 'asyncapi');
  return MAPS.has(key) && !isSchema ? 'map' : 'object';
}

function kindOfComponents(key: string): PlaceKind {
  if (LEAVES.has(key)) return 'leaves';
  return key === 'callbacks' ? key : 'map';
}
