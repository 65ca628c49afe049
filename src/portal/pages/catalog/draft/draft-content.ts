/** What a form says of a version, and what a form shows of one. */
import { type Content, specJsonRules } from '#catalog/version/artifact.ts';
import { draftProblems } from '#catalog/version/content-check.ts';
import type { VersionView } from '#catalog/version/version-view.ts';
import { type FieldProblem, isTrackportError, refuse } from '#shared/errors.ts';
import { parseJsonText } from '#shared/text/json.ts';
import type { ActionRequest } from '../../../routes/route-types.ts';
import type { PagesContext } from '../../context.ts';
import { type ContentFields, countsProblems, problem, toContent, toFields } from './draft-form.ts';

/** What a form shows of a version. */
export function fieldsOf({ record, specText = '' }: VersionView): ContentFields {
  return { ...toFields(record), spec: shownSpec(specText) };
}

/** Longer specs stay in one line: indented, one could be longer than a spec may be. */
const INDENTED_BYTES_MAX = 256 * 1024;

function shownSpec(specText: string): string {
  const bytes = Buffer.from(specText);
  if (bytes.length === 0 || bytes.length > INDENTED_BYTES_MAX) return specText;
  return JSON.stringify(parseJsonText(bytes, specJsonRules), undefined, 2);
}

/** The version that a form is about. */
type Name = { id: string; version?: string };

/**
 * The content that a form describes.
 * @throws {validation-failed} for everything that is wrong, once the spec or the counts are
 */
export async function contentOf(
  { catalog, readSpecText }: PagesContext,
  { form, origin }: Pick<ActionRequest<ContentFields>, 'form' | 'origin'>,
  name: Name,
): Promise<Content> {
  const content = toContent(form);
  const spec = await readSpec(readSpecText, { typed: form.spec, ...origin });
  const problems = [...countsProblems(form.counts), ...spec.problems];
  if (problems.length > 0)
    refuse([...draftProblems({ ...content, ...name }, catalog.words()), ...problems]);
  return { ...content, specText: spec.text };
}

type ReadSpec = { text?: string; problems: FieldProblem[] };

async function readSpec(
  readSpecText: PagesContext['readSpecText'],
  { typed, signal }: { typed: string; signal: AbortSignal },
): Promise<ReadSpec> {
  if (typed.trim() === '') return { problems: [] };
  try {
    return { text: await readSpecText(typed, signal), problems: [] };
  } catch (error) {
    return { problems: [specProblem(error)] };
  }
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
function specProblem(error: unknown): FieldProblem {
  if (!isTrackportError(error) || !OF_SPEC.has(error.code)) throw error;
  return problem('spec', error.code, error.detail ?? 'The spec cannot be read.');
}
