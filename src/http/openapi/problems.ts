import { type ErrorCode, errorCodes } from '#shared/errors.ts';
import { type OpenApiDocument, responsesOf } from './document.ts';
import { PROBLEM_MEDIA_TYPE, problemKinds } from '../problems/problem.ts';
import { problemHelp } from '../problems/problem-help.ts';
import { commonProblems } from './describe-route.ts';

/** The codes that an operation names, by its key (`get /api/v1/leads`). */
export type ProblemsByOperation = Map<string, readonly ErrorCode[]>;

const REFERENCE = '#/components/examples/';

/** What a problem carries beside what all of them do. */
const particulars: Partial<Record<ErrorCode, object>> = {
  'validation-failed': {
    detail: '`limit` must be a whole number from 1 to 100.',
    errors: [
      {
        parameter: 'limit',
        code: 'out-of-range',
        detail: '`limit` must be a whole number from 1 to 100.',
      },
    ],
  },
  'invalid-lifecycle-transition': { current: 'DRAFT', allowed: ['publish', 'replace', 'edit'] },
  'not-a-draft': { current: 'PUBLISHED', allowed: ['deprecate', 'edit'] },
  'version-exists': { current: 'DRAFT' },
  'idempotency-replayed-secret': {
    consumerId: '0f8fad5b-d9cb-469f-a165-70867728950e',
    keyId: 'MZQmR0OYZyod',
  },
  'no-published-version': { current: 'DRAFT' },
};

/** The document with one example for each code that a response can have, written once each. */
export function addProblemExamples(
  document: OpenApiDocument,
  named: ProblemsByOperation,
): OpenApiDocument {
  const used = new Set<ErrorCode>();
  for (const { key, status, response } of responsesOf(document)) {
    const content = response.content?.[PROBLEM_MEDIA_TYPE];
    if (!content) continue;
    const all = new Set([...(named.get(key) ?? []), ...commonProblems]);
    const ofStatus = errorCodes.filter(
      (code) => all.has(code) && problemKinds[code].status === status,
    );
    for (const code of ofStatus) used.add(code);
    content.examples = Object.fromEntries(
      ofStatus.map((code) => [code, { $ref: `${REFERENCE}${code}` }]),
    );
  }
  const examples = [...used].sort().map((code) => [code, exampleOf(code)] as const);
  return {
    ...document,
    components: { ...document.components, examples: Object.fromEntries(examples) },
  };
}

function exampleOf(code: ErrorCode) {
  const { title, status } = problemKinds[code];
  const value = {
    type: `https://adapter.example.com/problems/${code}`,
    title,
    status,
    detail: problemHelp[code].meaning,
    instance: 'urn:uuid:7d9d9f33-9b25-4366-9223-726f869ce87a',
    code,
    ...particulars[code],
  };
  return { summary: title, value };
}
