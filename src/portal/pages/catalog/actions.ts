import { z } from 'zod';
import type { LifecycleChange } from '#catalog/lifecycle/change-lifecycle.ts';
import { sunsetOfDay } from '#catalog/lifecycle/lifecycle.ts';
import type { Precondition } from '#catalog/version/entity-tag.ts';
import type { Caller, VersionView } from '#catalog/version/version-view.ts';
import { counted } from '../../shell/times.ts';
import { requireTyped, typedForm } from '../../retyped.ts';
import type { ActionRequest, ActionResult, PortalRoutes } from '../../routes/route-types.ts';
import { atBreaking } from './breaking.ts';
import type { CatalogPagesDeps } from './deps.ts';
import { describeForm, DRAFT_FORM_BYTES_MAX, draftForm, newDraftForm } from './draft/draft-form.ts';
import { contentOf, descriptionOf } from './draft/draft-content.ts';
import { atSpec } from './draft/draft-spec.ts';
import type { CatalogPageMakers, VersionName } from './page-makers.ts';
import { artifactPath, CATALOG_PATH, NEW_PATH } from './query.ts';

export const VERSION_PATH = `${CATALOG_PATH}/:id/versions/:version`;
const params = z.object({ id: z.string(), version: z.string() });
export const writing = { scope: 'catalog:write', params } as const;
export const publishing = { scope: 'catalog:publish', params } as const;

const seen = z.string();

/** Everything that is done about the catalog; each goes through the same use case as the API. */
export function addCatalogActions(
  portal: PortalRoutes,
  deps: CatalogPagesDeps,
  pages: CatalogPageMakers,
): void {
  for (const add of families) add({ portal, deps, pages });
}

const families = [addDrafts, addDescribe, addDelete, addChanges, addUnsetDefault, addReversible];

type Asking = Pick<ActionRequest<unknown, unknown>, 'person' | 'origin'>;

const callerOf = ({ person, origin }: Asking): Caller => ({
  workspaceId: person.workspaceId,
  ...origin,
});

const asSeen = (tag: string): Precondition => ({ kind: 'tags', tags: [tag] });

function shown({ record }: VersionView, notice: string): ActionResult {
  return { location: artifactPath(record.id, { version: record.version }), notice };
}

function withFindings(view: VersionView, what: string): ActionResult {
  const { version, findings } = view.record;
  const found = findings.length > 0 && ` Its spec has ${counted(findings.length, 'finding')}.`;
  return shown(view, `Draft ${version} was ${what}.${found || ''}`);
}

function addDrafts({ portal, deps, pages }: Parts): void {
  const { catalog } = deps;
  const formBytesMax = DRAFT_FORM_BYTES_MAX;
  portal.action(
    NEW_PATH,
    {
      scope: 'catalog:write',
      form: newDraftForm,
      formBytesMax,
      onProblems: (back) => pages.create({}, back),
    },
    async ({ form, ...asking }) => {
      const { id, version } = form;
      const named = { id, ...(version !== '' && { version }) };
      const draft = { ...(await contentOf(deps, asking, form, named)), ...named };
      return withFindings(await atSpec(() => catalog.create(callerOf(asking), draft)), 'created');
    },
  );
  portal.action(
    `${VERSION_PATH}/edit`,
    {
      ...writing,
      form: draftForm,
      formBytesMax,
      onProblems: (back) => pages.edit(back.params, back),
    },
    async ({ form, params: name, ...asking }) => {
      const content = await contentOf(deps, asking, form, name);
      const input = { ...name, content, ifMatch: asSeen(form.seen) };
      return withFindings(await atSpec(() => catalog.replace(callerOf(asking), input)), 'saved');
    },
  );
}

function addDescribe({ portal, deps, pages }: Parts): void {
  portal.action(
    `${VERSION_PATH}/describe`,
    { ...writing, form: describeForm, onProblems: (back) => pages.edit(back.params, back) },
    async ({ form, params: name, ...asking }) => {
      const { title, owner, groupPath } = form;
      const description = await descriptionOf(deps, asking, form);
      const patch = {
        title,
        owner,
        ...(description !== undefined && { description }),
        groupPath: groupPath || null,
      };
      const input = { ...name, patch, ifMatch: asSeen(form.seen) };
      const view = await deps.catalog.patch(callerOf(asking), input);
      return shown(view, 'The changes were saved.');
    },
  );
}

const versionForm = typedForm.extend({ seen });

function addDelete({ portal, deps, pages }: Parts): void {
  portal.action(
    `${VERSION_PATH}/delete`,
    { ...writing, form: versionForm, onProblems: (back) => pages.delete(back.params, back) },
    async ({ form, params: name, ...asking }) => {
      requireTyped(form.typed, name.version, 'the version');
      const { workspaceId } = asking.person;
      const { counts } = await deps.catalog.read({ workspaceId }, { ...name, withSpec: false });
      await deps.catalog.delete(callerOf(asking), { ...name, ifMatch: asSeen(form.seen) });
      const isGone = counts['versions'] === 1;
      return {
        location: isGone ? CATALOG_PATH : artifactPath(name.id),
        notice: `Draft ${name.version} was deleted.`,
      };
    },
  );
}

const deprecateForm = z.object({
  sunset: z
    .union([z.literal(''), z.iso.date('Choose a day, such as 2027-06-01.')])
    .transform((day) => (day === '' ? undefined : Date.parse(sunsetOfDay(day)))),
  seen,
});

function addChanges(parts: Parts): void {
  const publishForm = z.object({ seen, breaking: z.literal('accept').optional() });
  addChange(parts, 'publish', publishForm, ({ breaking }) => ({
    acceptsBreaking: breaking === 'accept',
  }));
  addChange(parts, 'deprecate', deprecateForm, ({ sunset: sunsetAt }) =>
    sunsetAt === undefined ? {} : { sunsetAt },
  );
  const retireForm = versionForm.extend({ early: z.literal('yes').optional() });
  addChange(parts, 'retire', retireForm, ({ typed, early }, { version }) => {
    requireTyped(typed, version, 'the version');
    return { isEarly: early === 'yes' };
  });
}

type Parts = { portal: PortalRoutes; deps: CatalogPagesDeps; pages: CatalogPageMakers };

const CHANGED = { publish: 'published', deprecate: 'deprecated', retire: 'retired' } as const;

/** A step of a version's life; `factsOf` is what the form says of it. */
function addChange<Form extends z.ZodType<{ seen: string }>>(
  { portal, deps, pages }: Parts,
  action: keyof typeof CHANGED,
  form: Form,
  factsOf: (form: z.output<Form>, name: VersionName) => Partial<LifecycleChange>,
): void {
  portal.action(
    `${VERSION_PATH}/${action}`,
    { ...publishing, form, onProblems: (back) => pages[action](back.params, back) },
    async ({ form: sent, params: name, ...asking }) => {
      const change = { ...factsOf(sent, name), ...name, action, ifMatch: asSeen(sent.seen) };
      const view = await atBreaking(() => deps.catalog.changeLifecycle(callerOf(asking), change));
      return shown(view, `${name.version} is ${CHANGED[action]}.`);
    },
  );
}

function addUnsetDefault({ portal, deps: { catalog }, pages }: Parts): void {
  portal.action(
    `${VERSION_PATH}/unset-default`,
    {
      ...publishing,
      form: z.object({ seen }),
      onProblems: (back) => pages['unset-default'](back.params, back),
    },
    async ({ form, params: { id }, ...asking }) => {
      const target = { id, ifMatch: asSeen(form.seen) };
      const { record } = await catalog.unsetDefault(callerOf(asking), target);
      const { version } = record;
      const notice = `No version is set as the default now. It is ${version}.`;
      return { location: artifactPath(record.id, { version }), notice };
    },
  );
}

/** What can be undone needs no page that asks. */
function addReversible({ portal, deps: { catalog } }: Parts): void {
  portal.action(`${VERSION_PATH}/reinstate`, publishing, async ({ params: name, ...asking }) => {
    const change = { ...name, action: 'reinstate' as const };
    const view = await catalog.changeLifecycle(callerOf(asking), change);
    return shown(view, `${name.version} is published again.`);
  });
  portal.action(`${VERSION_PATH}/default`, publishing, async ({ params: name, ...asking }) => {
    const view = await catalog.setDefault(callerOf(asking), name);
    return shown(view, `${name.version} is the default now.`);
  });
}
