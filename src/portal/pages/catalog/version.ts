/** What all pages and actions about one version share. */
import { z } from 'zod';
import { refuseTransition } from '#catalog/lifecycle/lifecycle.ts';
import { type Lifecycle, type VersionRecord, VERSIONS_MAX } from '#catalog/version/artifact.ts';
import { entityTagOf, type Precondition } from '#catalog/version/entity-tag.ts';
import { type Caller, taggedOf, type VersionView } from '#catalog/version/version-view.ts';
import { html, type Html } from '../../html.ts';
import type { FormProblem } from '../../page.ts';
import { typedField, typedForm } from '../../routes/confirmation.ts';
import type {
  ActionRequest,
  ActionResult,
  Confirmation,
  FormRequest,
  PortalRoutes,
} from '../../routes/route-types.ts';
import { code } from '../../shell/parts.ts';
import type { PagesContext } from '../context.ts';
import { artifactPath, CATALOG_PATH } from './query.ts';

export const VERSION_PATH = `${CATALOG_PATH}/:id/versions/:version`;
const params = z.object({ id: z.string(), version: z.string() });
export type VersionName = z.output<typeof params>;
export const writing = { scope: 'catalog:write', params } as const;
export const publishing = { scope: 'catalog:publish', params } as const;

export const callerOf = ({ person, origin }: Pick<ActionRequest, 'person' | 'origin'>): Caller => ({
  workspaceId: person.workspaceId,
  ...origin,
});

/** What a form says of the version that its page showed: the entity tag that the action asks for. */
export const seen = z.string();
export const seenOf = (view: VersionView): string => entityTagOf(taggedOf(view));
export const asSeen = (tag: string): Precondition => ({ kind: 'tags', tags: [tag] });

export function shown({ record }: VersionView, notice: string): ActionResult {
  return { location: artifactPath(record.id, { version: record.version }), notice };
}

/** Where a page below a version stands. */
export function placeOf({ id, title, version }: VersionRecord) {
  const crumbs = [
    { href: CATALOG_PATH, text: 'Catalog' },
    { href: artifactPath(id, { version }), text: title },
  ];
  return { section: 'catalog', crumbs } as const;
}

/** A version that something is confirmed about. */
export type VersionRequest = FormRequest<VersionName> & {
  view: VersionView;
  /** The other versions of its artifact. */
  others: readonly VersionRecord[];
};

type VersionAction<Form extends z.ZodType> = {
  /** Before the version's name. */
  title: string;
  /** In the address. */
  action: string;
  /** The states that it is offered in: an address does not ask. */
  from: readonly Lifecycle[];
  /** `writing` or `publishing`. */
  may: typeof writing | typeof publishing;
  form: Form;
  confirm: (request: VersionRequest) => Rest | Promise<Rest>;
  run: (request: ActionRequest<z.output<Form>, VersionName>) => Promise<ActionResult>;
};

type Rest = Omit<Confirmation, 'section' | 'title' | 'crumbs' | 'problems' | 'values'>;

/** What is confirmed about a version before it is done. */
export function addVersionAction<Form extends z.ZodType>(
  portal: PortalRoutes,
  { catalog }: PagesContext,
  { title, action, from, may, form, confirm, run }: VersionAction<Form>,
): void {
  portal.action(`${VERSION_PATH}/${action}`, {
    ...may,
    form,
    confirm: async (request: FormRequest<VersionName>) => {
      const { person, params: name } = request;
      const reader = { workspaceId: person.workspaceId };
      const view = await catalog.read(reader, { ...name, withSpec: true });
      const { record } = view;
      if (!from.includes(record.lifecycle)) refuseTransition(action, record.lifecycle);
      const { items } = await catalog.listVersions(reader, { id: name.id, limit: VERSIONS_MAX });
      const others = items.filter(({ version }) => version !== record.version);
      const problems = request.problems.map(inWords);
      return {
        ...placeOf(record),
        title: `${title} ${name.version}`,
        problems,
        values: { seen: seenOf(view) },
        ...(await confirm({ ...request, problems, view, others })),
      };
    },
    run,
  });
}

/** For a page that asks: what the API would call a parameter is a box there. */
function inWords(problem: FormProblem): FormProblem {
  if (problem.parameter !== 'early') return explainStale(problem, 'Look again, then confirm.');
  return { ...problem, detail: 'Its sunset is ahead. Tick the box to retire it before.' };
}

export const typedVersionForm = typedForm.extend({ seen });

export function typedVersion({ view, problems }: VersionRequest): Html {
  return typedField(html`Type the version: ${code(view.record.version)}`, problems);
}

/** In words for a form: somebody else changed the version. `next` is what to do about it. */
export function explainStale(problem: FormProblem, next: string): FormProblem {
  if (problem.code !== 'stale') return problem;
  const what = 'Somebody else has changed this version since you opened the page.';
  return { code: 'stale', detail: `${what} ${next}` };
}
