import { z } from 'zod';
import { requireEditable } from '#catalog/lifecycle/lifecycle.ts';
import type { VersionView } from '#catalog/version/version-view.ts';
import { textFilter } from '../../address.ts';
import type { PortalPage } from '../../page.ts';
import { requireTyped } from '../../retyped.ts';
import { SIGNED_IN_ANEW } from '../../routes/run-action.ts';
import type { ActionResult, FormRequest, PortalRoutes } from '../../routes/route-types.ts';
import { counted } from '../../shell/times.ts';
import { atSpec, contentOf, descriptionOf, fieldsOf } from './draft/draft-content.ts';
import {
  describeForm,
  DRAFT_FORM_BYTES_MAX,
  draftForm,
  newDraftForm,
  toFields,
} from './draft/draft-form.ts';
import { draftFormView } from './draft/draft-view.ts';
import { fitFields, type FormTexts, holdText, omittedIn } from './draft/omitted-texts.ts';
import { artifactPath, CATALOG_PATH, NEW_PATH, versionPath } from './query.ts';
import { explainStale, typedVersion, typedVersionForm, versionQuestion } from './question.ts';
import {
  asSeen,
  callerOf,
  type CatalogPagesDeps,
  placeOf,
  seenOf,
  shown,
  VERSION_PATH,
  type VersionName,
  writing,
} from './versions.ts';

/** Writing a version: a new one, a draft, what may change of another one, and deleting a draft. */
export function addDrafts(portal: PortalRoutes, deps: CatalogPagesDeps): void {
  addCreate(portal, deps);
  addEdit(portal, deps);
  addDescribe(portal, deps);
  addDelete(portal, deps);
}

const newQuery = z.strictObject({ id: textFilter(), version: textFilter() });
type NewQuery = z.output<typeof newQuery>;

function addCreate(portal: PortalRoutes, deps: CatalogPagesDeps): void {
  const options = {
    scope: 'catalog:write',
    query: newQuery,
    form: newDraftForm,
    formBytesMax: DRAFT_FORM_BYTES_MAX,
    page: (request: FormRequest<unknown, NewQuery>) => createPage(deps, request),
  } as const;
  portal.action(NEW_PATH, options, async ({ form, ...asking }) => {
    const { id, version } = form;
    const named = { id, ...(version !== '' && { version }) };
    const draft = { ...(await contentOf(deps, asking, form, named)), ...named };
    return withFindings(
      await atSpec(() => deps.catalog.create(callerOf(asking), draft)),
      'created',
    );
  });
}

function withFindings(view: VersionView, what: string): ActionResult {
  const { version, findings } = view.record;
  const found = findings.length > 0 && ` Its spec has ${counted(findings.length, 'finding')}.`;
  return shown(view, `Draft ${version} was ${what}.${found || ''}`);
}

async function createPage(
  deps: CatalogPagesDeps,
  request: FormRequest<unknown, NewQuery>,
): Promise<PortalPage> {
  const { person, problems, query: from = {} } = request;
  const { fields, omitted } =
    (await typedFields(deps, request)) ?? (await fieldsFrom(deps, request));
  const { id } = from;
  return {
    title: id === undefined ? 'Create draft' : `Create a version of ${id}`,
    section: 'catalog',
    crumbs: [{ href: CATALOG_PATH, text: 'Catalog' }],
    body: draftFormView({
      person,
      action: NEW_PATH,
      kind: 'new',
      fields,
      omitted,
      words: deps.catalog.words(),
      problems,
      cancel: id === undefined ? CATALOG_PATH : artifactPath(id),
    }),
  };
}

/** A new draft starts empty, or with what another version says. */
async function fieldsFrom(
  { catalog }: CatalogPagesDeps,
  { person, query: { id, version } = {} }: FormRequest<unknown, NewQuery>,
): Promise<FormTexts> {
  if (id === undefined || version === undefined)
    return { fields: { id: id ?? '', source: 'INLINE' }, omitted: {} };
  const { workspaceId } = person;
  const view = await catalog.read({ workspaceId }, { id, version, withSpec: true });
  const { fields, omitted } = await fieldsOf(view);
  return { fields: { ...fields, id: view.record.id, version: '' }, omitted };
}

/** What was typed; of what is too long for the page, where it is held. Undefined before that. */
async function typedFields(
  { sessions }: CatalogPagesDeps,
  { typed, session, problems }: FormRequest,
): Promise<FormTexts | undefined> {
  if (problems.length === 0) return undefined;
  const texts = { fields: typed, omitted: omittedIn(typed) };
  return fitFields(texts, (text) => holdText({ sessions, session }, text));
}

function addEdit(portal: PortalRoutes, deps: CatalogPagesDeps): void {
  const page = (request: FormRequest<VersionName>) => editPage(deps, request);
  const options = { ...writing, form: draftForm, formBytesMax: DRAFT_FORM_BYTES_MAX, page };
  portal.action(`${VERSION_PATH}/edit`, options, async ({ form, params: name, ...asking }) => {
    const content = await contentOf(deps, asking, form, name);
    const input = { ...name, content, ifMatch: asSeen(form.seen) };
    return withFindings(await atSpec(() => deps.catalog.replace(callerOf(asking), input)), 'saved');
  });
}

function addDescribe(portal: PortalRoutes, deps: CatalogPagesDeps): void {
  const onProblems = (request: FormRequest<VersionName>) => editPage(deps, request);
  const options = { ...writing, form: describeForm, onProblems };
  portal.action(`${VERSION_PATH}/describe`, options, async ({ form, params: name, ...asking }) => {
    const { title, owner, groupPath } = form;
    const description = await descriptionOf(deps, asking, form);
    const patch = {
      title,
      owner,
      ...(description !== undefined && { description }),
      groupPath: groupPath || null,
    };
    const input = { ...name, patch, ifMatch: asSeen(form.seen) };
    return shown(await deps.catalog.patch(callerOf(asking), input), 'The changes were saved.');
  });
}

async function editPage(
  deps: CatalogPagesDeps,
  request: FormRequest<VersionName>,
): Promise<PortalPage> {
  const { person, params: name, typed } = request;
  const { catalog } = deps;
  const { workspaceId } = person;
  const view = await catalog.read({ workspaceId }, { ...name, withSpec: true });
  const { record } = view;
  requireEditable(record);
  const current = toFields(record);
  const { fields, omitted } = (await typedFields(deps, request)) ?? (await fieldsOf(view));
  const isDraft = record.lifecycle === 'DRAFT';
  return {
    ...placeOf(record),
    title: `Edit ${record.version}`,
    body: draftFormView({
      person,
      action: versionPath(record.id, record.version, isDraft ? 'edit' : 'describe'),
      kind: isDraft ? 'draft' : 'describe',
      fields,
      omitted,
      hidden: { seen: seenBefore(request) ?? seenOf(view) },
      words: catalog.words(),
      problems: request.problems.map((one) => explainStale(one, { current, typed })),
      cancel: artifactPath(record.id, { version: record.version }),
    }),
  };
}

/** A form of an earlier session says what was seen then: somebody may have changed it since. */
function seenBefore({ problems, typed: { seen } }: FormRequest): string | undefined {
  const isAnew = problems.some(({ code }) => code === SIGNED_IN_ANEW);
  return isAnew && typeof seen === 'string' ? seen : undefined;
}

/** Asks for the version before a draft is deleted. */
function addDelete(portal: PortalRoutes, deps: CatalogPagesDeps): void {
  const { catalog } = deps;
  const kind = { title: 'Delete draft', action: 'delete', from: ['DRAFT'] } as const;
  const page = versionQuestion(deps, kind, (request) => ({
    failed: 'Not deleted',
    consequences: [
      'The draft goes with its spec; the audit keeps that it was there.',
      ...(request.view.counts['versions'] === 1
        ? ['It is the only version: the artifact goes with it.']
        : []),
      'This cannot be undone.',
    ],
    fields: [typedVersion(request)],
    submit: `Delete draft ${request.view.record.version}`,
    danger: true,
  }));
  const options = { ...writing, form: typedVersionForm, page };
  portal.action(`${VERSION_PATH}/delete`, options, async ({ form, params: name, ...asking }) => {
    requireTyped(form.typed, name.version, 'the version');
    const { workspaceId } = asking.person;
    const { counts } = await catalog.read({ workspaceId }, { ...name, withSpec: false });
    await catalog.delete(callerOf(asking), { ...name, ifMatch: asSeen(form.seen) });
    return {
      location: counts['versions'] === 1 ? CATALOG_PATH : artifactPath(name.id),
      notice: `Draft ${name.version} was deleted.`,
    };
  });
}
