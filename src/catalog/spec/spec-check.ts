import { fragmentOf } from './finding.ts';
import type { Finding } from './finding.ts';
import { brokenReferences } from './spec-references.ts';

export const FINDINGS_MAX = 100;
const DETAIL_CHARACTERS_MAX = 300;

/** What a document says it is. Only OpenAPI is validated; AsyncAPI is recognised. */
export type SpecKind = 'openapi' | 'asyncapi' | 'other';

/**
 * Says what is wrong with a spec, given as its JSON text, without holding up everybody else.
 * @throws {overloaded} too many big ones wait
 */
export type SpecChecker = (specText: string) => Promise<Finding[]>;

type SchemaError = { instancePath: string; keyword: string; params: object; message?: string };

/** Looks at the document's own word: `openapi` or `swagger`, `asyncapi`. */
export function specKindOf(document: unknown): SpecKind {
  if (typeof document !== 'object' || document === null) return 'other';
  if (Object.hasOwn(document, 'openapi') || Object.hasOwn(document, 'swagger')) return 'openapi';
  return Object.hasOwn(document, 'asyncapi') ? 'asyncapi' : 'other';
}

/**
 * Validates an OpenAPI document (Swagger 2.0, OpenAPI 3.0, 3.1 and 3.2) against its published schema
 * and looks up its local references. The first 100 findings, and one that counts the rest; none for
 * other kinds. It is synchronous but for the first call, which loads the validator, and takes a time
 * that grows with the square of some lists: see the `SpecChecker` of the adapters.
 */
export async function findingsOf(specText: string): Promise<Finding[]> {
  const document: unknown = JSON.parse(specText);
  if (specKindOf(document) !== 'openapi') return [];
  const specification = document as Record<string, unknown>;
  const version = versionOf(specification);
  if (version === undefined) return [unknownVersion(specification)];
  const check = (await (loading ??= loadSchemas())).getAjvValidator(version);
  check(document);
  const broken = brokenReferences(specification).map(referenceFinding);
  return bound([...distinct(check.errors ?? []), ...broken]);
}

function bound(findings: Finding[]): Finding[] {
  const more = findings.length - FINDINGS_MAX;
  if (more <= 0) return findings;
  const detail = `${more} more finding${more === 1 ? ' is' : 's are'} not shown.`;
  return [...findings.slice(0, FINDINGS_MAX), { pointer: '#/spec', code: 'more', detail }];
}

/**
 * The part of the library's validator that is used. Its `validate` also clones the document to
 * resolve references, which takes ten times as long and mistakes properties named `$ref` for some.
 */
type Schemas = {
  getAjvValidator(version: string): {
    (document: unknown): unknown;
    errors?: SchemaError[] | null;
  };
};

/** Compiled schemas are the same for everybody. */
let loading: Promise<Schemas> | undefined;

async function loadSchemas(): Promise<Schemas> {
  const { Validator } = await import('@seriousme/openapi-schema-validator');
  return new Validator({ allErrors: true }) as unknown as Schemas;
}

/** Which published schema describes the document; undefined when none does. */
function versionOf({ openapi, swagger }: Record<string, unknown>): string | undefined {
  if (swagger !== undefined) return swagger === '2.0' ? swagger : undefined;
  const known = /^(3\.[012])(?:\.\d+)?(?:-[0-9A-Za-z.-]+)?$/;
  return typeof openapi === 'string' ? known.exec(openapi)?.[1] : undefined;
}

function unknownVersion(specification: Record<string, unknown>): Finding {
  const key = Object.hasOwn(specification, 'swagger') ? 'swagger' : 'openapi';
  return {
    pointer: `#/spec/${key}`,
    code: 'unknown-version',
    detail: 'Known are `swagger: "2.0"` and `openapi` 3.0, 3.1 and 3.2, each written as a string.',
  };
}

function distinct(errors: readonly SchemaError[]): Finding[] {
  const telling = errors.filter(isTelling);
  const findings = new Map<string, Finding>();
  for (const error of telling.length > 0 ? telling : errors) {
    const finding = schemaFinding(error);
    findings.set(`${finding.pointer} ${finding.detail}`, finding);
  }
  return [...findings.values()];
}

/**
 * `oneOf`, `anyOf` and `if` only say that something below them failed, and nearly everything could
 * have been a reference instead.
 */
function isTelling({ keyword, params }: SchemaError): boolean {
  if (keyword === 'required')
    return (params as { missingProperty?: string }).missingProperty !== '$ref';
  return !['oneOf', 'anyOf', 'if'].includes(keyword);
}

function schemaFinding({ instancePath, keyword, params, message }: SchemaError): Finding {
  const { allowedValues, additionalProperty, unevaluatedProperty } = params as {
    allowedValues?: unknown[];
    additionalProperty?: string;
    unevaluatedProperty?: string;
  };
  const named = additionalProperty ?? unevaluatedProperty;
  const facts = [
    named === undefined ? '' : `: "${named}"`,
    allowedValues === undefined ? '' : `: ${allowedValues.join(', ')}`,
  ];
  return {
    pointer: fragmentOf(`/spec${instancePath}`),
    code: keyword,
    detail: `${message ?? 'is not valid'}${facts.join('')}`.slice(0, DETAIL_CHARACTERS_MAX),
  };
}

function referenceFinding({ pointer, target }: { pointer: string; target: string }): Finding {
  return {
    pointer: fragmentOf(`/spec${pointer}/$ref`),
    code: 'unresolved-reference',
    detail: `leads nowhere: ${target}`.slice(0, DETAIL_CHARACTERS_MAX),
  };
}
