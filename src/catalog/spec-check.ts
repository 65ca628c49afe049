import type { Validator } from '@seriousme/openapi-schema-validator';
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
  let validators: Promise<Validators> | undefined;
  return async (specText) => {
    const document: unknown = JSON.parse(specText);
    if (specKindOf(document) !== 'openapi') return [];
    const specification = document as Record<string, unknown>;
    if (!isKnownVersion(specification)) return [unknownVersion(specification)];
    validators ??= loadValidators();
    const errors = await schemaErrors(await validators, specification, specText.length);
    const broken = brokenReferences(specification, FINDINGS_MAX).map(referenceFinding);
    return [...summarize(errors), ...broken].slice(0, FINDINGS_MAX);
  };
}

type Validators = { firstOnly: Validator; exhaustive: Validator };

async function loadValidators(): Promise<Validators> {
  const { Validator } = await import('@seriousme/openapi-schema-validator');
  return { firstOnly: new Validator(), exhaustive: new Validator({ allErrors: true }) };
}

function isKnownVersion({ openapi, swagger }: Record<string, unknown>): boolean {
  if (swagger !== undefined) return swagger === '2.0';
  return typeof openapi === 'string' && /^3\.[012](?:\.\d+)?(?:-[0-9A-Za-z.-]+)?$/.test(openapi);
}

function unknownVersion(specification: Record<string, unknown>): Finding {
  const key = Object.hasOwn(specification, 'swagger') ? 'swagger' : 'openapi';
  return {
    pointer: `#/spec/${key}`,
    code: 'unknown-version',
    detail: 'Known are `swagger: "2.0"` and `openapi` 3.0, 3.1 and 3.2, each written as a string.',
  };
}

async function schemaErrors(
  { firstOnly, exhaustive }: Validators,
  specification: Record<string, unknown>,
  characters: number,
): Promise<SchemaError[]> {
  const quick = await errorsOf(firstOnly, specification);
  if (quick.length === 0 || characters > EXHAUSTIVE_CHARACTERS_MAX) return quick;
  return errorsOf(exhaustive, specification);
}

/** A text in place of errors is the library's look-up of references, which ours replaces. */
async function errorsOf(
  validator: Validator,
  specification: Record<string, unknown>,
): Promise<SchemaError[]> {
  const { errors } = await validator.validate(specification);
  return Array.isArray(errors) ? errors : [];
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
