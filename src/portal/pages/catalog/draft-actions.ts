import { z } from 'zod';
import { requireEditable } from '#catalog/lifecycle/transitions.ts';
import type { VersionRecord, VersionView } from '#catalog/version/artifact.ts';
import { readView } from '#catalog/version/version-view.ts';
import {
  createVersion,
  deleteVersion,
  patchVersion,
  replaceVersion,
} from '#catalog/version/write-version.ts';
import type { PortalContext } from '../../context.ts';
import { textFilter } from '../../shell/list.ts';
import type { PortalPage, TypedFields } from '../../page.ts';
import {
  CATALOG_PATH,
  NEW_DRAFT_PATH,
  VERSION_PATH,
  artifactPath,
  versionPath,
} from '../../paths.ts';
import { type ActionResult, action } from '../../routes/action-route.ts';
import type { PortalRequest } from '../../routes/portal-request.ts';
import { counted } from '../../shell/times.ts';
import {
  atSpec,
  contentOf,
  describeForm,
  DRAFT_FORM_BYTES_MAX,
  draftForm,
  draftFormView,
  fieldsOf,
  labelOf,
  newDraftForm,
  toFields,
} from './draft-form.ts';
import {
  asSeen,
  callerOf,
  explainStale,
  versionFrame,
  seenOf,
  shown,
  type VersionName,
  writing,
  versionAction,
} from './version-actions.ts';

const newQuery = z.strictObject({ id: textFilter(), version: textFilter() });
type NewRequest = PortalRequest<unknown, z.output<typeof newQuery>>;

const createDraftAction = action({
  path: NEW_DRAFT_PATH,
  scope: 'catalog:write',
  query: newQuery,
  form: newDraftForm,
  formBytesMax: DRAFT_FORM_BYTES_MAX,
  page: createPage,
  run: async (context, request) => {
    const { id, version } = request.form;
    const name = { id, ...(version !== '' && { version }) };
    const draft = { ...(await contentOf(context, request, name)), ...name };
    const made = await atSpec(() => createVersion(context.catalog, callerOf(request), draft));
    return withFindings(made, 'created');
  },
});

function withFindings(view: VersionView, what: string): ActionResult {
  const { version, findings } = view.record;
  const found = findings.length > 0 && ` Its spec has ${counted(findings.length, 'finding')}.`;
  return shown(view, `Draft ${version} was ${what}.${found || ''}`);
}

async function createPage(context: PortalContext, request: NewRequest): Promise<PortalPage> {
  const { person, problems, query } = request;
  const fields = typedFields(request) ?? (await fieldsFrom(context, request));
  const { id } = query;
  return {
    title: id === undefined ? 'Create draft' : `Create a version of ${id}`,
    section: 'catalog',
    crumbs: [],
    body: draftFormView({
      person,
      action: NEW_DRAFT_PATH,
      kind: 'new',
      fields,
      words: context.catalog.rules(),
      problems,
      cancel: id === undefined ? CATALOG_PATH : artifactPath(id),
    }),
  };
}

/** A new draft starts empty, or with what another version says. */
async function fieldsFrom(
  { catalog }: PortalContext,
  { person, query: { id, version } }: NewRequest,
): Promise<TypedFields> {
  if (id === undefined || version === undefined) return { id: id ?? '', source: 'INLINE' };
  const view = await readView(catalog.db, person, { id, version, withSpec: true });
  return { ...fieldsOf(view), id: view.record.id, version: '' };
}

/** Typed fields, where something was wrong with them. */
function typedFields({ typed, problems }: PortalRequest): TypedFields | undefined {
  return problems.length === 0 ? undefined : typed;
}

const editDraftAction = action({
  path: `${VERSION_PATH}/edit`,
  ...writing,
  form: draftForm,
  formBytesMax: DRAFT_FORM_BYTES_MAX,
  page: editPage,
  run: async (context, request) => {
    const { params: name, form } = request;
    const content = await contentOf(context, request, name);
    const input = { ...name, content, ifMatch: asSeen(form.seen) };
    const saved = await atSpec(() => replaceVersion(context.catalog, callerOf(request), input));
    return withFindings(saved, 'saved');
  },
});

const describeAction = action({
  path: `${VERSION_PATH}/describe`,
  ...writing,
  form: describeForm,
  onProblems: editPage,
  run: async (context, request) => {
    const { title, owner, description, groupPath, seen } = request.form;
    const patch = {
      title,
      owner,
      description: description.trim() || null,
      groupPath: groupPath || null,
    };
    const input = { ...request.params, patch, ifMatch: asSeen(seen) };
    const saved = await patchVersion(context.catalog, callerOf(request), input);
    return shown(saved, 'The changes were saved.');
  },
});

async function editPage(
  context: PortalContext,
  request: PortalRequest<VersionName>,
): Promise<PortalPage> {
  const { person, params: name, typed } = request;
  const { catalog } = context;
  const view = await readView(catalog.db, person, { ...name, withSpec: true });
  const { record } = view;
  requireEditable(record);
  const fields = typedFields(request) ?? fieldsOf(view);
  const isDraft = record.lifecycle === 'DRAFT';
  return {
    ...versionFrame(record),
    title: `Edit ${record.version}`,
    body: draftFormView({
      person,
      action: versionPath(record.id, record.version, isDraft ? 'edit' : 'describe'),
      kind: isDraft ? 'draft' : 'describe',
      fields,
      hidden: { seen: request.seenBefore ?? seenOf(view) },
      words: catalog.rules(),
      problems: request.problems.map((one) => explainStale(one, overwriting(record, typed))),
      cancel: artifactPath(record.id, { version: record.version }),
    }),
  };
}

/** Fields in which a version that somebody else changed differs from what was typed. */
function overwriting(record: VersionRecord, typed: TypedFields): string {
  const differing = Object.entries(toFields(record)).filter(
    ([name, now]) => name in typed && plain(typed[name]) !== plain(now),
  );
  const words = differing.map(([name]) => labelOf(name).toLowerCase()).join(', ');
  const where = words === '' ? '' : `Now it differs from yours in: ${words}. `;
  return `${where}Save again to overwrite it.`;
}

const plain = (text: string | string[] | undefined): string =>
  String(text ?? '')
    .replaceAll('\r\n', '\n')
    .trim();

/** Asks for the version before a draft is deleted. */
const deleteDraftAction = versionAction({
  title: 'Delete draft',
  action: 'delete',
  form: z.object({}),
  isFinal: true,
  explain: (_context, request) => ({
    failed: 'Not deleted',
    consequences: [
      'The draft goes with its spec; the audit keeps that it was there.',
      ...(request.view.counts['versions'] === 1
        ? ['It is the only version: the artifact goes with it.']
        : []),
      'This cannot be undone.',
    ],
    submit: `Delete draft ${request.view.record.version}`,
  }),
  run: async ({ catalog }, request, target) => {
    const { id, version } = target;
    const { counts } = await readView(catalog.db, request.person, {
      id,
      version,
      withSpec: false,
    });
    await deleteVersion(catalog, callerOf(request), target);
    return {
      location: counts['versions'] === 1 ? CATALOG_PATH : artifactPath(id),
      notice: `Draft ${version} was deleted.`,
    };
  },
});

/** Writing a version: a new one, a draft, what may change of another one, and deleting a draft. */
export const draftActions = [createDraftAction, editDraftAction, describeAction, deleteDraftAction];
