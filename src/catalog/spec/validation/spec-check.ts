import { readFile } from 'node:fs/promises';
import { Ajv } from 'ajv';
import { packageUrl } from '#shared/program.ts';
import { isRecord } from '#shared/text/json.ts';
import { type Finding, FINDINGS_MAX, fragmentOf, type SpecKind, specKindOf } from '../finding.ts';
import { checkBy } from './compile-schema.ts';
import { loadOpenApiCheck } from './openapi-schema.ts';
import { brokenReferences } from './references.ts';
import { findingOfReference, findingsOfErrors, type SchemaCheck } from './schema-errors.ts';

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
