import { specJsonRules } from '#catalog/version/artifact.ts';
import { isTrackportError, refuse } from '#shared/errors.ts';
import { parseJsonText } from '#shared/text/json.ts';
import type { CatalogPagesDeps } from '../deps.ts';
import { problem } from './draft-form.ts';
import type { ContentFields } from './draft-form.ts';

/** Longer specs are not put into a form. */
const SHOWN_BYTES_MAX = 16 * 1024;

/** What a form says of a spec that there is: its text, or where it stands and how long it is. */
export type SpecFields = { spec: string; specOf: string; specBytes?: number };

type Named = { id: string; version: string };

/** For the form; `named` is the version that the spec is of. */
export function specFieldsOf(specText: string | undefined, { id, version }: Named): SpecFields {
  if (specText === undefined) return { spec: '', specOf: '' };
  const specBytes = Buffer.byteLength(specText);
  if (specBytes > SHOWN_BYTES_MAX) return { spec: '', specOf: `${id} ${version}`, specBytes };
  const value = parseJsonText(Buffer.from(specText), specJsonRules);
  return { spec: JSON.stringify(value, undefined, 2), specOf: '' };
}

/** The spec of a version that a form names, if there is one. */
export async function formerSpecOf(
  { catalog }: Pick<CatalogPagesDeps, 'catalog'>,
  workspaceId: string,
  specOf = '',
): Promise<string | undefined> {
  const [id = '', version = ''] = specOf.split(' ');
  if (id === '') return undefined;
  const { specText } = await catalog.read({ workspaceId }, { id, version, withSpec: true });
  return specText;
}

/** The spec that a form brings, or leaves. @throws {validation-failed} for one that cannot be read */
export async function typedSpecOf(
  deps: Pick<CatalogPagesDeps, 'catalog' | 'readSpecText'>,
  workspaceId: string,
  { spec, specOf, withoutSpec }: ContentFields,
): Promise<string | undefined> {
  if (spec.trim() !== '') return atSpec(() => deps.readSpecText(spec));
  return withoutSpec === 'yes' ? undefined : formerSpecOf(deps, workspaceId, specOf);
}

const OF_SPEC: ReadonlySet<string> = new Set(['malformed-json', 'payload-too-large', 'overloaded']);

/** What is wrong with the spec comes back at its field. @throws {validation-failed} for that */
export async function atSpec<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isTrackportError(error) || !OF_SPEC.has(error.code)) throw error;
    return refuse([problem('spec', error.code, error.detail ?? 'The spec cannot be read.')]);
  }
}
