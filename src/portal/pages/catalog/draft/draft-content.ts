/**
 * Texts that a form is too short for: a page has a limit, a spec may have 5 MiB. The form names where
 * such a text is, and an empty field leaves it so. Of a version it is in the catalog; what was typed is
 * stored in the session, so that a mistake in another field costs nobody their work.
 */
import { type Content, specJsonRules } from '#catalog/version/artifact.ts';
import { draftProblems } from '#catalog/version/content-check.ts';
import type { VersionView } from '#catalog/version/version-view.ts';
import { type FieldProblem, isTrackportError, refuse } from '#shared/errors.ts';
import { parseJsonText } from '#shared/text/json.ts';
import type { PortalPerson, TypedFields } from '../../../page.ts';
import type { ActionRequest } from '../../../routes/route-types.ts';
import type { PagesContext } from '../../context.ts';
import {
  type ContentFields,
  countsProblems,
  LONG_FIELDS,
  type LongField,
  problem,
  toContent,
  toFields,
} from './draft-form.ts';

/** `source`: `version <id> <version>`, or `held <id>`. */
export type OmittedText = { source: string; bytes: number };
export type OmittedTexts = Readonly<Partial<Record<LongField, OmittedText>>>;
/** A form's fields, and what is left out of them. */
export type FormTexts = { fields: TypedFields; omitted: OmittedTexts };

/** What the text of a field may have on its page. */
const SHOWN_CHARACTERS_MAX = 16 * 1024;
/** Many times what a line may have: the rest of a longer one is no use to anybody. */
const LINE_CHARACTERS_SHOWN = 500;

const isLong = (name: string): name is LongField =>
  (LONG_FIELDS as readonly string[]).includes(name);

/** The name of the hidden field that says where the text of a field is. */
export const omittedName = (name: LongField): string => `omitted.${name}`;
/** The name of the box that takes such a text away. */
export const withoutName = (name: LongField): string => `without.${name}`;

/** The fields as a form shows them; of those too long for its page `sourceOf` says where they stay. */
export async function fitFields(
  { fields, omitted }: FormTexts,
  sourceOf: (text: string) => Promise<string>,
): Promise<FormTexts> {
  const shown: Record<string, string> = {};
  const left: Partial<Record<LongField, OmittedText>> = { ...omitted };
  for (const [name, value] of Object.entries(fields)) {
    const text = String(value);
    const isOmitted = isLong(name) && text.length > SHOWN_CHARACTERS_MAX;
    if (isOmitted) left[name] = { source: await sourceOf(text), bytes: Buffer.byteLength(text) };
    shown[name] = isOmitted ? '' : text.slice(0, isLong(name) ? undefined : LINE_CHARACTERS_SHOWN);
  }
  return { fields: shown, omitted: left };
}

/** Where the texts of a version are. */
function versionSource({ id, version }: { id: string; version: string }): string {
  return `version ${id} ${version}`;
}

/** What a form says of texts that it left out; those that were typed anew count by themselves. */
export function omittedIn(typed: Readonly<Record<string, unknown>>): OmittedTexts {
  const entries = LONG_FIELDS.flatMap((name) => {
    const [, bytes, source] = /^(\d{1,9}) (.+)$/.exec(textOf(typed[omittedName(name)])) ?? [];
    const isBlank = textOf(typed[name]).trim() === '';
    return source !== undefined && isBlank ? [[name, { source, bytes: Number(bytes) }]] : [];
  });
  return Object.fromEntries(entries) as OmittedTexts;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Whose long texts are stored where. */
type Storage = { sessions: PagesContext['sessions']; session: { digest: Buffer } };

/** Stores a text that was typed. Returns its source. */
export async function storeText({ sessions, session }: Storage, text: string): Promise<string> {
  return `held ${await sessions.putText(session, text)}`;
}

/**
 * The fields with the texts that were stored, as if they had been typed again.
 * @throws {validation-failed} at a field whose text is over
 */
async function withStoredTexts<Form extends Partial<Record<LongField, string>>>(
  { sessions, session }: Storage,
  form: Form,
  omitted: OmittedTexts,
): Promise<Form> {
  const texts: Partial<Record<LongField, string>> = {};
  for (const name of LONG_FIELDS) {
    const [kind, id = ''] = omitted[name]?.source.split(' ') ?? [];
    if (kind !== 'held') continue;
    const text = await sessions.readText(session, id);
    if (typeof text !== 'string')
      refuse([problem(name, 'gone', 'What you gave here is not held any more. Give it again.')]);
    texts[name] = text;
  }
  return { ...form, ...texts };
}

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
  context: PagesContext,
  { form, session, person, origin }: ActionRequest<ContentFields>,
  name: Name,
): Promise<Content> {
  const { sessions, catalog } = context;
  const omitted = wanted(form);
  const filled = await withStoredTexts({ sessions, session }, form, omitted);
  const former = await omittedOfVersion(context, person, omitted);
  const content = { ...toContent(filled), ...former.fields };
  const spec = await readSpec(context, { typed: filled.spec, ...origin }, former);
  const problems = [...countsProblems(filled.counts), ...spec.problems];
  if (problems.length > 0)
    refuse([...draftProblems({ ...content, ...name }, catalog.words()), ...problems]);
  return { ...content, ...(spec.text !== undefined && { specText: spec.text }) };
}

type ReadSpec = { text?: string | undefined; problems: FieldProblem[] };

async function readSpec(
  { readSpecText }: PagesContext,
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
  { sessions }: PagesContext,
  { form, session }: ActionRequest<{ description: string }>,
): Promise<string | null | undefined> {
  const omitted = wanted(form);
  const { description } = await withStoredTexts({ sessions, session }, form, omitted);
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
  { catalog }: PagesContext,
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
