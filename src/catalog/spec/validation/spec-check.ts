import { readFile } from 'node:fs/promises';
import { Ajv } from 'ajv';
import { packageUrl } from '#shared/program.ts';
import { decodePercent, escapePointer, isRecord, valueAt } from '#shared/text/json.ts';
import { type Finding, FINDINGS_MAX, fragmentOf } from '../../version/artifact.ts';
import { kindBelow, type PlaceKind, type SpecKind, specKindOf } from '../places.ts';
import { checkBy, type SchemaCheck, type SchemaError } from './schema-check.ts';
import { loadOpenApiCheck } from './openapi-schema.ts';

/**
 * Validates an OpenAPI document (Swagger 2.0, OpenAPI 3.0, 3.1 and 3.2) or an AsyncAPI one (2.0 to 2.6,
 * 3.0 and 3.1) against its published schema and looks up its local references. The first 100 findings,
 * and one that counts the rest; none for other kinds. It is synchronous but for the first call of a
 * version, which loads its schema, and takes a time that grows with the square of some lists: see the `SpecChecker`
 * of the adapters.
 */
export async function findingsOf(specText: string): Promise<Finding[]> {
  const document: unknown = JSON.parse(specText);
  const standard = STANDARDS[specKindOf(document)];
  if (!standard || !isRecord(document)) return [];
  const version = standard.versionOf(document);
  if (version === undefined) return [unknownVersion(standard, document)];
  const check = await standard.loadCheck(version, document);
  const broken = brokenReferences(document).map(findingOfReference);
  return bound([...findingsOfErrors(check(document)), ...broken]);
}

/** Swagger 2.0, OpenAPI 3.0, 3.1 and 3.2. */
const openApi: SpecStandard = {
  versionOf: ({ openapi, swagger }) => {
    if (swagger !== undefined) return swagger === '2.0' ? swagger : undefined;
    const known = /^(3\.[012])(?:\.\d+)?(?:-[0-9A-Za-z.-]+)?$/;
    return typeof openapi === 'string' ? known.exec(openapi)?.[1] : undefined;
  },
  versionKey: (document) => (Object.hasOwn(document, 'swagger') ? 'swagger' : 'openapi'),
  known: 'Known are `swagger: "2.0"` and `openapi` 3.0, 3.1 and 3.2, each written as a string.',
  loadCheck: loadOpenApiCheck,
};

/**
 * AsyncAPI 2.0 to 2.6, 3.0 and 3.1. A patch number changes nothing that tools may tell apart.
 * @see https://www.asyncapi.com/docs/reference/specification/v3.1.0#A2SVersionString
 */
const asyncApi: SpecStandard = {
  versionOf: ({ asyncapi }) =>
    typeof asyncapi === 'string' ? /^(2\.[0-6]|3\.[01])\.\d+$/.exec(asyncapi)?.[1] : undefined,
  versionKey: () => 'asyncapi',
  known: 'Known are `asyncapi` 2.0.0 to 2.6.0, 3.0.0 and 3.1.0, each written as a string.',
  loadCheck: loadAsyncApiCheck,
};

/** It comes with a package: nothing is fetched. */
async function loadAsyncApiCheck(version: string): Promise<SchemaCheck> {
  const check = await checkBy(`asyncapi ${version}`, Ajv, async () => {
    // The variant whose references all stay inside of it.
    const file = packageUrl(`@asyncapi/specs/schemas/${version}.0-without-$id.json`);
    return JSON.parse(await readFile(file, 'utf8')) as object;
  });
  // The schema wants exactly this patch number.
  return (document) => check({ ...(document as object), asyncapi: `${version}.0` });
}

const STANDARDS: Readonly<Record<SpecKind, SpecStandard | undefined>> = {
  openapi: openApi,
  asyncapi: asyncApi,
  other: undefined,
};

function unknownVersion(standard: SpecStandard, document: Record<string, unknown>): Finding {
  return {
    pointer: fragmentOf(`/spec/${standard.versionKey(document)}`),
    code: 'unknown-version',
    detail: standard.known,
  };
}

function bound(findings: Finding[]): Finding[] {
  const more = findings.length - FINDINGS_MAX;
  if (more <= 0) return findings;
  const detail = `${more} more finding${more === 1 ? ' is' : 's are'} not shown.`;
  return [...findings.slice(0, FINDINGS_MAX), { pointer: '#/spec', code: 'more', detail }];
}

/** A standard that documents say they follow, with the schemas that are published for it. */
type SpecStandard = {
  /** The version whose schema describes a document; undefined when none does. */
  versionOf(document: Readonly<Record<string, unknown>>): string | undefined;
  /** The member that names the version. */
  versionKey(document: Readonly<Record<string, unknown>>): string;
  /** The versions that are known, for people. */
  known: string;
  /** Loads each schema with the first document of its version. */
  loadCheck(version: string, document: Readonly<Record<string, unknown>>): Promise<SchemaCheck>;
};

const DETAIL_CHARACTERS_MAX = 300;

/** Each error once. */
function findingsOfErrors(errors: readonly SchemaError[]): Finding[] {
  const findings = new Map<string, Finding>();
  for (const error of errors) {
    const finding = findingOfError(error);
    findings.set(`${finding.pointer} ${finding.detail}`, finding);
  }
  return [...findings.values()];
}

function findingOfError({ instancePath, keyword, params, message }: SchemaError): Finding {
  const { allowedValue, additionalProperty, unevaluatedProperty, ...more } = params as {
    allowedValue?: unknown;
    allowedValues?: unknown[];
    additionalProperty?: string;
    unevaluatedProperty?: string;
  };
  const { allowedValues = allowedValue === undefined ? undefined : [allowedValue] } = more;
  const named = additionalProperty ?? unevaluatedProperty;
  const facts = [
    named === undefined ? '' : `: "${named}"`,
    allowedValues === undefined ? '' : `: ${allowedValues.join(', ')}`,
  ];
  return {
    pointer: fragmentOf(`/spec${instancePath}`),
    code: keyword,
    detail: shorten(`${message ?? 'is not valid'}${facts.join('')}`),
  };
}

/** A local reference that leads nowhere, as a finding. */
function findingOfReference(broken: BrokenReference): Finding {
  return {
    pointer: fragmentOf(`/spec${broken.pointer}/$ref`),
    code: 'unresolved-reference',
    detail: shorten(`leads nowhere: ${broken.target}`),
  };
}

function shorten(detail: string): string {
  return detail.slice(0, DETAIL_CHARACTERS_MAX);
}

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
function brokenReferences(document: Record<string, unknown>): BrokenReference[] {
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
