import { refuse } from '#shared/errors.ts';
import { checkFields } from '#shared/field-problems.ts';
import { isRecord } from '#shared/text/json.ts';
import { type Draft, draftIn } from '../version/content-check.ts';

/** Whether a document is meant as an artifact; schemas have a type and a title as well. */
export function isArtifact(document: unknown): document is Record<string, unknown> {
  return isRecord(document) && ('owner' in document || ('id' in document && 'type' in document));
}

/**
 * The draft that an artifact file holds: the fields of a create, `source` being FILE unless it says
 * otherwise. Which types and sources are known, `checkDraft` looks at.
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
  const checked = checkFields(draftIn, 'body', { source: 'FILE', ...document });
  if ('problems' in checked) refuse(checked.problems);
  const { spec, ...fields } = checked.value;
  return { ...fields, specText: spec && JSON.stringify(spec) };
}
