import { specJsonRules } from '#catalog/version/artifact.ts';
import { isTrackportError, refuse } from '#shared/errors.ts';
import type { FieldProblem } from '#shared/errors.ts';
import { parseJsonText } from '#shared/text/json.ts';
import { problem } from './draft-form.ts';

/** Longer specs are not put into a form. */
const SHOWN_BYTES_MAX = 16 * 1024;

/** A spec as a form shows it; undefined for one that is too long. */
export function shownSpec(specText: string): string | undefined {
  if (Buffer.byteLength(specText) > SHOWN_BYTES_MAX) return undefined;
  return JSON.stringify(parseJsonText(Buffer.from(specText), specJsonRules), undefined, 2);
}

const OF_SPEC: ReadonlySet<string> = new Set(['malformed-json', 'payload-too-large', 'overloaded']);

/** What is wrong with the spec comes back at its field. @throws {validation-failed} for that */
export async function atSpec<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    return refuse([specProblem(error)]);
  }
}

/** What the error says of the spec. Throws every other error. */
export function specProblem(error: unknown): FieldProblem {
  if (!isTrackportError(error) || !OF_SPEC.has(error.code)) throw error;
  return problem('spec', error.code, error.detail ?? 'The spec cannot be read.');
}
