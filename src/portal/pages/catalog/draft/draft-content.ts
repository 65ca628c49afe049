import { type Content, specJsonRules } from '#catalog/version/artifact.ts';
import { draftProblems } from '#catalog/version/content-check.ts';
import type { VersionView } from '#catalog/version/version-view.ts';
import { type FieldProblem, isTrackportError, refuse } from '#shared/errors.ts';
import type { PortalPerson } from '../../../person.ts';
import type { CatalogPagesDeps } from '../versions.ts';
import {
  type ContentFields,
  countsProblems,
  type LongField,
  problem,
  toContent,
  toFields,
} from './draft-form.ts';
import {
  fitFields,
  type FormTexts,
  omittedIn,
  type OmittedTexts,
  versionSource,
  withHeldTexts,
  withoutName,
} from './omitted-texts.ts';
import { parseJsonText } from '#shared/text/json.ts';

type Deps = Pick<CatalogPagesDeps, 'catalog' | 'readSpecText' | 'sessions'>;
type By = {
  person: PortalPerson;
  session: { digest: Buffer };
  origin: { signal: AbortSignal };
};

/** What a form shows of a version, and what it leaves where it is. */
export async function fieldsOf({ record, specText }: VersionView): Promise<FormTexts> {
  const source = versionSource(record);
  const spec = specText === undefined ? '' : shownSpec(specText);
  const omitted = spec === undefined && {
    spec: { source, bytes: Buffer.byteLength(specText ?? '') },
  };
  const fields = { ...toFields(record), spec: spec ?? '' };
  return fitFields({ fields, omitted: omitted || {} }, async () => source);
}

/** The version that a form is about. */
type Name = { id: string; version?: string };

/**
 * The content that a form describes, with the texts that it left out.
 * @throws {validation-failed} for everything that is wrong, once the spec or the counts are
 */
export async function contentOf(
  deps: Deps,
  by: By,
  form: ContentFields,
  name: Name,
): Promise<Content> {
  const { sessions, catalog } = deps;
  const omitted = wanted(form);
  const filled = await withHeldTexts({ sessions, session: by.session }, form, omitted);
  const former = await omittedOfVersion(deps, by.person, omitted);
  const content = { ...toContent(filled), ...former.fields };
  const spec = await readSpec(deps, { typed: filled.spec, ...by.origin }, former);
  const problems = [...countsProblems(filled.counts), ...spec.problems];
  if (problems.length > 0)
    refuse([...draftProblems({ ...content, ...name }, catalog.words()), ...problems]);
  return { ...content, ...(spec.text !== undefined && { specText: spec.text }) };
}

type ReadSpec = { text?: string | undefined; problems: FieldProblem[] };

async function readSpec(
  { readSpecText }: Pick<Deps, 'readSpecText'>,
  { typed, signal }: { typed: string; signal: AbortSignal },
  former: Former,
): Promise<ReadSpec> {
  if (typed.trim() === '') return { text: former.specText, problems: [] };
  try {
    return { text: await readSpecText(typed, signal), problems: [] };
  } catch (error) {
    return { problems: [specProblem(error)] };
  }
}

/** The description of a form that has no other long field; undefined leaves it as it is. */
export async function descriptionOf(
  { sessions }: Pick<Deps, 'sessions'>,
  { session }: Pick<By, 'session'>,
  form: { description: string },
): Promise<string | null | undefined> {
  const omitted = wanted(form);
  const { description } = await withHeldTexts({ sessions, session }, form, omitted);
  if (description.trim() !== '') return description.trim();
  return omitted.description ? undefined : null;
}

/** Texts that the form left out, and that no box takes away. */
function wanted(form: object): OmittedTexts {
  const typed = form as Readonly<Record<string, unknown>>;
  const all = Object.entries(omittedIn(typed)) as [LongField, OmittedTexts[LongField]][];
  return Object.fromEntries(all.filter(([name]) => typed[withoutName(name)] !== 'yes'));
}

type Former = { specText?: string | undefined; fields?: Partial<Content> };

/** What the version holds that a form refers to. @throws {artifact-not-found} */
async function omittedOfVersion(
  { catalog }: Pick<Deps, 'catalog'>,
  { workspaceId }: PortalPerson,
  omitted: OmittedTexts,
): Promise<Former> {
  const names = (Object.keys(omitted) as LongField[]).filter((name) => isOfVersion(omitted, name));
  const [first] = names;
  if (first === undefined) return {};
  const [, id = '', version = ''] = omitted[first]?.source.split(' ') ?? [];
  const view = await catalog.read({ workspaceId }, { id, version, withSpec: true });
  const entries = names.filter((name) => name !== 'spec').map((name) => [name, view.record[name]]);
  return {
    specText: names.includes('spec') ? view.specText : undefined,
    fields: Object.fromEntries(entries) as Partial<Content>,
  };
}

const isOfVersion = (omitted: OmittedTexts, name: LongField): boolean =>
  omitted[name]?.source.startsWith('version ') ?? false;

/** Longer specs are not put into a form. */
const SHOWN_BYTES_MAX = 16 * 1024;

/** A spec as a form shows it; undefined for one that is too long. */
function shownSpec(specText: string): string | undefined {
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
function specProblem(error: unknown): FieldProblem {
  if (!isTrackportError(error) || !OF_SPEC.has(error.code)) throw error;
  return problem('spec', error.code, error.detail ?? 'The spec cannot be read.');
}
