import type { Content } from '#catalog/version/artifact.ts';
import type { VersionView } from '#catalog/version/version-view.ts';
import type { PortalPerson } from '../../../person.ts';
import type { CatalogPagesDeps } from '../deps.ts';
import { toContent, toFields } from './draft-form.ts';
import type { ContentFields, LongField } from './draft-form.ts';
import { atSpec, shownSpec } from './draft-spec.ts';
import {
  fitFields,
  omittedIn,
  versionSource,
  withHeldTexts,
  withoutName,
} from './omitted-texts.ts';
import type { FormTexts, OmittedTexts } from './omitted-texts.ts';

type Deps = Pick<CatalogPagesDeps, 'catalog' | 'readSpecText' | 'sessions'>;
type By = { person: PortalPerson; session: { digest: Buffer } };

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

/** The content that a form describes, with the texts that it left out. @throws {validation-failed} */
export async function contentOf(deps: Deps, by: By, form: ContentFields): Promise<Content> {
  const { sessions, readSpecText } = deps;
  const omitted = wanted(form);
  const filled = await withHeldTexts({ sessions, session: by.session }, form, omitted);
  const former = await omittedOfVersion(deps, by.person, omitted);
  const content = toContent(filled);
  const { spec } = filled;
  const specText = spec.trim() === '' ? former.specText : await atSpec(() => readSpecText(spec));
  return {
    ...content,
    ...former.fields,
    ...(specText !== undefined && { specText }),
  };
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
