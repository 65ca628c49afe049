import type { Lifecycle, VersionRecord } from '#catalog/version/artifact.ts';
import { chooseRepresentative } from '#catalog/version/order/default-version.ts';
import { VERSIONS_MAX } from '#catalog/version/artifact.ts';
import { entityTagOf } from '#catalog/version/entity-tag.ts';
import { refuseTransition, requireEditable } from '#catalog/lifecycle/lifecycle.ts';
import { taggedOf } from '#catalog/version/version-view.ts';
import type { VersionView } from '#catalog/version/version-view.ts';
import type { FormProblem, PortalPage, TypedFields } from '../../page.ts';
import type { PortalPerson } from '../../person.ts';
import { SIGNED_IN_ANEW } from '../../routes/run-action.ts';
import type { Html } from '../../html.ts';
import type { Reader } from '../../shell/times.ts';
import {
  deleteView,
  deprecateView,
  publishView,
  retireView,
  unsetDefaultView,
} from './confirm-views.ts';
import type { ConfirmFacts, PublishFacts } from './confirm-views.ts';
import { readDefault } from './artifact/artifact-page.ts';
import type { CatalogPagesDeps } from './deps.ts';
import { toFields } from './draft/draft-form.ts';
import { fieldsOf } from './draft/draft-content.ts';
import { fitFields, holdText, omittedIn } from './draft/omitted-texts.ts';
import type { FormTexts } from './draft/omitted-texts.ts';
import { draftFormView } from './draft/draft-view.ts';
import { artifactPath, CATALOG_PATH, NEW_PATH, versionPath } from './query.ts';
import { explainAsked, explainStale } from './stale.ts';

export type CatalogPageMakers = ReturnType<typeof createPages>;

export type VersionName = { id: string; version: string };
/** Who asks, and what was typed and is wrong when a form came back. */
type FormRequest = {
  person: PortalPerson;
  session?: { digest: Buffer };
  typed?: TypedFields;
  problems?: readonly FormProblem[];
};
type Confirm = (given: ConfirmFacts, reader: Reader, others: VersionRecord[]) => Html;
type Question = { title: string; action: string; from: readonly Lifecycle[] };

/** Pages with forms, as a reader and a form that came back show them alike. */
export function createPages(deps: CatalogPagesDeps) {
  const { catalog, clock } = deps;
  const read = ({ workspaceId }: PortalPerson, name: VersionName): Promise<VersionView> =>
    catalog.read({ workspaceId }, { ...name, withSpec: true });
  const confirm =
    ({ title, action, from }: Question, view: Confirm) =>
    async (
      name: VersionName,
      { person, problems = [], typed }: FormRequest,
    ): Promise<PortalPage> => {
      const { workspaceId, timeZone } = person;
      const shown = await read(person, name);
      const { lifecycle } = shown.record;
      // Its artifact offers it only where it is possible; an address does not ask.
      if (!from.includes(lifecycle)) refuseTransition(action, lifecycle);
      const page = { id: name.id, limit: VERSIONS_MAX };
      const { items } = await catalog.listVersions({ workspaceId }, page);
      const facts = {
        view: shown,
        person,
        seen: seenOf(shown),
        problems: problems.map(explainAsked),
        ...(typed && { typed }),
      };
      const others = items.filter(({ version }) => version !== shown.record.version);
      const reader = { timeZone, nowMs: clock.now() };
      return below(shown.record, `${title} ${name.version}`, view(facts, reader, others));
    };
  return {
    create: (from: Partial<VersionName>, request: FormRequest) => createPage(deps, from, request),
    edit: async (name: VersionName, request: FormRequest) => editPage(deps, name, request),
    publish: async (name: VersionName, request: FormRequest) => {
      const facts = await publishFacts(catalog, request.person, name);
      return confirm(QUESTIONS.publish, (given, reader, others) =>
        publishView({
          ...given,
          ...facts,
          after: defaultAfter(given, facts.before, { reader, others }),
        }),
      )(name, request);
    },
    deprecate: confirm(QUESTIONS.deprecate, (given, reader, others) =>
      deprecateView({ ...given, next: given.view.successor ?? nextOf(others) }, reader),
    ),
    retire: confirm(QUESTIONS.retire, retireView),
    delete: confirm(QUESTIONS.delete, deleteView),
    'unset-default': confirm(QUESTIONS.unset, (given, _reader, others) => {
      const next = chooseRepresentative([given.view.record, ...others], undefined)?.version;
      return unsetDefaultView({ ...given, next });
    }),
  };
}

/** What is asked before it is done, and of versions in which state. */
const QUESTIONS = {
  publish: { title: 'Publish', action: 'publish', from: ['DRAFT'] },
  deprecate: { title: 'Deprecate', action: 'deprecate', from: ['PUBLISHED', 'DEPRECATED'] },
  retire: { title: 'Retire', action: 'retire', from: ['DEPRECATED'] },
  delete: { title: 'Delete draft', action: 'delete', from: ['DRAFT'] },
  unset: { title: 'Unset default', action: 'unset-default', from: ['PUBLISHED', 'DEPRECATED'] },
} as const satisfies Record<string, Question>;

async function publishFacts(
  catalog: CatalogPagesDeps['catalog'],
  { workspaceId }: PortalPerson,
  name: VersionName,
) {
  const found = await readDefault(catalog, { workspaceId }, name.id);
  return {
    compatibility: await catalog.compatibility({ workspaceId }, name),
    stopsAtBreaking: catalog.stopsAtBreaking(),
    stops: catalog.stopsAtFindings(),
    before: found && { version: found.record.version, isSet: found.isSetDefault },
  };
}

/** What readers get who name no version, once this one is published. */
function defaultAfter(
  { view }: ConfirmFacts,
  before: PublishFacts['before'],
  { reader, others }: { reader: Reader; others: readonly VersionRecord[] },
): string | undefined {
  if (before?.isSet === true) return before.version;
  const published = { lifecycle: 'PUBLISHED', publishedAt: reader.nowMs } as const;
  return chooseRepresentative([{ ...view.record, ...published }, ...others], undefined)?.version;
}

/** Stands for what a person saw of a version. */
const seenOf = (view: VersionView): string => entityTagOf(taggedOf(view));

/** What readers get when the only better version goes. */
function nextOf(others: readonly VersionRecord[]): string | undefined {
  const published = others.filter(({ lifecycle }) => lifecycle === 'PUBLISHED');
  return chooseRepresentative(published, undefined)?.version;
}

async function createPage(
  deps: CatalogPagesDeps,
  from: Partial<VersionName>,
  request: FormRequest,
): Promise<PortalPage> {
  const { person, problems = [] } = request;
  const { fields, omitted } =
    (await typedFields(deps, request)) ?? (await fieldsFrom(deps, person, from));
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
  { workspaceId }: PortalPerson,
  { id, version }: Partial<VersionName>,
): Promise<FormTexts> {
  if (id === undefined || version === undefined)
    return { fields: { id: id ?? '', source: 'INLINE' }, omitted: {} };
  const view = await catalog.read({ workspaceId }, { id, version, withSpec: true });
  const { fields, omitted } = await fieldsOf(view);
  return { fields: { ...fields, id: view.record.id, version: '' }, omitted };
}

/** What was typed; of what is too long for the page, where it is held. Undefined before that. */
async function typedFields(
  { sessions }: CatalogPagesDeps,
  { typed, session }: FormRequest,
): Promise<FormTexts | undefined> {
  if (!typed || !session) return undefined;
  const texts = { fields: typed, omitted: omittedIn(typed) };
  return fitFields(texts, (text) => holdText({ sessions, session }, text));
}

async function editPage(
  deps: CatalogPagesDeps,
  name: VersionName,
  request: FormRequest,
): Promise<PortalPage> {
  const { person, typed, problems = [] } = request;
  const { workspaceId } = person;
  const { catalog } = deps;
  const view = await catalog.read({ workspaceId }, { ...name, withSpec: true });
  const { record } = view;
  requireEditable(record);
  const current = toFields(record);
  const { fields, omitted } = (await typedFields(deps, request)) ?? (await fieldsOf(view));
  const isDraft = record.lifecycle === 'DRAFT';
  const form = draftFormView({
    person,
    action: versionPath(record.id, record.version, isDraft ? 'edit' : 'describe'),
    kind: isDraft ? 'draft' : 'describe',
    fields,
    omitted,
    hidden: { seen: seenBefore(request) ?? seenOf(view) },
    words: catalog.words(),
    problems: problems.map((one) => explainStale(one, { current, typed })),
    cancel: artifactPath(record.id, { version: record.version }),
  });
  return below(record, `Edit ${record.version}`, form);
}

/** A form of an earlier session says what was seen then: somebody may have changed it since. */
function seenBefore({ problems = [], typed = {} }: FormRequest): string | undefined {
  const { seen } = typed;
  const isAnew = problems.some(({ code }) => code === SIGNED_IN_ANEW);
  return isAnew && typeof seen === 'string' ? seen : undefined;
}

function below({ id, title, version }: VersionRecord, heading: string, body: Html): PortalPage {
  return {
    title: heading,
    section: 'catalog',
    crumbs: [
      { href: CATALOG_PATH, text: 'Catalog' },
      { href: artifactPath(id, { version }), text: title },
    ],
    body,
  };
}
