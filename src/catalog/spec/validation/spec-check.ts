import { isRecord } from '#shared/text/json.ts';
import { asyncApi } from './asyncapi-standard.ts';
import { type Finding, FINDINGS_MAX, fragmentOf } from '../finding.ts';
import { openApi } from './openapi-standard.ts';
import { findingOfReference, findingsOfErrors } from './schema-errors.ts';
import { type SpecKind, specKindOf } from '../spec-kind.ts';
import { brokenReferences } from './spec-references.ts';
import type { SpecStandard } from './spec-standard.ts';

const STANDARDS: Readonly<Record<SpecKind, SpecStandard | undefined>> = {
  openapi: openApi,
  asyncapi: asyncApi,
  other: undefined,
};

/**
 * Validates an OpenAPI document (Swagger 2.0, OpenAPI 3.0, 3.1 and 3.2) or an AsyncAPI one (2.0 to 2.6,
 * 3.0 and 3.1) against its published schema and looks up its local references. The first 100 findings,
 * and one that counts the rest; none for other kinds. It is synchronous but for the first calls, which
 * load a validator, and takes a time that grows with the square of some lists: see the `SpecChecker`
 * of the adapters.
 */
export async function findingsOf(specText: string): Promise<Finding[]> {
  const document: unknown = JSON.parse(specText);
  const standard = STANDARDS[specKindOf(document)];
  if (!standard || !isRecord(document)) return [];
  const version = standard.versionOf(document);
  if (version === undefined) return [unknownVersion(standard, document)];
  const check = await standard.loadCheck(version);
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
