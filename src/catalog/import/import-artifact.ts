import { type FieldProblem, refuse } from '#shared/errors.ts';
import { isRecord } from '#shared/text/json.ts';
import type { Draft } from '../version/content-check.ts';

type Kind = 'text' | 'texts' | 'numbers' | 'object';

/** The fields of an artifact file. Those of the first line are required. */
const FIELDS: Readonly<Record<string, Kind>> = {
  ...({ id: 'text', type: 'text', owner: 'text', title: 'text' } as const),
  version: 'text',
  description: 'text',
  source: 'text',
  projectId: 'text',
  groupPath: 'text',
  members: 'texts',
  counts: 'numbers',
  spec: 'object',
};
const REQUIRED = ['id', 'type', 'owner', 'title'];

/** Whether a document is meant as an artifact; schemas have a type and a title as well. */
export function isArtifact(document: unknown): document is Record<string, unknown> {
  return isRecord(document) && ('owner' in document || ('id' in document && 'type' in document));
}

const EXPECTED: Readonly<Record<Kind, string>> = {
  text: 'a text (in YAML, quote what looks like a number)',
  texts: 'a list of texts',
  numbers: 'names with numbers',
  object: 'an object',
};

/**
 * The draft that an artifact file holds: the fields of a create, `source` being FILE unless it says
 * otherwise. Only the shape is looked at; `checkDraft` judges the values.
 * @throws {validation-failed} with a pointer for each wrong field
 */
export function toArtifactDraft(document: unknown): Draft {
  if (!isArtifact(document))
    refuse([
      {
        pointer: '#',
        code: 'unknown-format',
        detail: 'The file is no OpenAPI or AsyncAPI document, and no artifact.',
      },
    ]);
  const problems = shapeProblems(document);
  if (problems.length > 0) refuse(problems);
  const { spec, ...fields } = document;
  return {
    source: 'FILE',
    ...(fields as Omit<Draft, 'source' | 'specText'>),
    ...(spec !== undefined && { specText: JSON.stringify(spec) }),
  };
}

function shapeProblems(document: Record<string, unknown>): FieldProblem[] {
  const missing = REQUIRED.filter((field) => document[field] === undefined).map((field) => ({
    pointer: `#/${field}`,
    code: 'missing',
    detail: `The field "${field}" is required.`,
  }));
  const wrong = Object.entries(document).flatMap(([field, value]) => {
    const kind = Object.hasOwn(FIELDS, field) ? FIELDS[field] : undefined;
    if (kind === undefined)
      return [{ pointer: `#/${field}`, code: 'unknown', detail: `No field is named "${field}".` }];
    if (hasKind(value, kind)) return [];
    return [
      { pointer: `#/${field}`, code: 'invalid', detail: `"${field}" must be ${EXPECTED[kind]}.` },
    ];
  });
  return [...missing, ...wrong];
}

function hasKind(value: unknown, kind: Kind): boolean {
  if (kind === 'text') return typeof value === 'string';
  if (kind === 'texts')
    return Array.isArray(value) && value.every((one) => typeof one === 'string');
  if (!isRecord(value)) return false;
  return kind === 'object' || Object.values(value).every((one) => typeof one === 'number');
}
