import type { Finding } from './artifact.ts';
import { brokenReferences } from './spec-references.ts';

export const FINDINGS_MAX = 50;
const DETAIL_CHARACTERS_MAX = 300;
/** Looking for every finding costs far more than for the first: only short specs get all of them. */
const EXHAUSTIVE_CHARACTERS_MAX = 16 * 1024;

/** What a document says it is. Only OpenAPI is validated; AsyncAPI is recognised. */
export type SpecKind = 'openapi' | 'asyncapi' | 'other';

/** Validates the JSON text of a spec. */
export type SpecChecker = (specText: string) => Promise<Finding[]>;

type SchemaError = { instancePath: string; keyword: string; params: object; message?: string };

/** Looks at the document's own word: `openapi` or `swagger`, `asyncapi`. */
export function specKindOf(document: unknown): SpecKind {
  if (typeof document !== 'object' || document === null) return 'other';
  if (Object.hasOwn(document, 'openapi') || Object.hasOwn(document, 'swagger')) return 'openapi';
  return Object.hasOwn(document, 'asyncapi') ? 'asyncapi' : 'other';
}

/**
 * Validates OpenAPI documents (Swagger 2.0, OpenAPI 3.0, 3.1 and 3.2) against their published
 * schemas and looks up their local references. At most 50 findings; none for other kinds. The
 * validator is loaded with the first document.
 */
export function createSpecChecker(): SpecChecker {
  let loading: Promise<Schemas> | undefined;
  return async (specText) => {
    const document: unknown = JSON.parse(specText);
    if (specKindOf(document) !== 'openapi') return [];
    const specification = document as Record<string, unknown>;
    const version = versionOf(specification);
    if (version === undefined) return [unknownVersion(specification)];
    const { firstOnly, exhaustive } = await (loading ??= loadSchemas());
    const quick = errorsOf(firstOnly.getAjvValidator(version), document);
    const isShort = specText.length <= EXHAUSTIVE_CHARACTERS_MAX;
    const errors =
      quick.length > 0 && isShort ? errorsOf(exhaustive.getAjvValidator(version), document) : quick;
    const broken = brokenReferences(specification, FINDINGS_MAX).map(referenceFinding);
    return [...summarize(errors), ...broken].slice(0, FINDINGS_MAX);
  };
}

type SchemaCheck = { (document: unknown): unknown; errors?: SchemaError[] | null };

/**
 * The part of the library's validator that is used. Its `validate` also clones the document to
 * resolve references, which takes ten times as long and mistakes properties named `$ref` for some.
 */
type CompiledSchemas = { getAjvValidator(version: string): SchemaCheck };

type Schemas = { firstOnly: CompiledSchemas; exhaustive: CompiledSchemas };

async function loadSchemas(): Promise<Schemas> {
  const { Validator } = await import('@seriousme/openapi-schema-validator');
  return {
    firstOnly: new Validator() as unknown as CompiledSchemas,
    exhaustive: new Validator({ allErrors: true }) as unknown as CompiledSchemas,
  };
}

function errorsOf(check: SchemaCheck, document: unknown): SchemaError[] {
  check(document);
  return check.errors ?? [];
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

/** `oneOf`, `anyOf` and `if` only say that something below them failed. */
function summarize(errors: SchemaError[]): Finding[] {
  const telling = errors.filter(({ keyword }) => !['oneOf', 'anyOf', 'if'].includes(keyword));
  const findings = new Map<string, Finding>();
  for (const error of telling.length > 0 ? telling : errors) {
    const finding = schemaFinding(error);
    findings.set(`${finding.pointer} ${finding.detail}`, finding);
    if (findings.size === FINDINGS_MAX) break;
  }
  return [...findings.values()];
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
    pointer: toFragment(instancePath),
    code: keyword,
    detail: `${message ?? 'is not valid'}${facts.join('')}`.slice(0, DETAIL_CHARACTERS_MAX),
  };
}

function referenceFinding({ pointer, target }: { pointer: string; target: string }): Finding {
  return {
    pointer: toFragment(`${pointer}/$ref`),
    code: 'unresolved-reference',
    detail: `leads nowhere: ${target}`.slice(0, DETAIL_CHARACTERS_MAX),
  };
}

/** A JSON Pointer below `/spec` as a URI fragment (RFC 6901 §6). */
function toFragment(pointer: string): string {
  return `#/spec${encodeURI(pointer.toWellFormed()).replaceAll('#', '%23')}`;
}
