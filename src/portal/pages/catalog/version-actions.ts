/** Shared by all pages and actions about one version. */
import { z } from 'zod';
import type { Caller, Catalog } from '#catalog/index.ts';
import { readView } from '#catalog/version/version-view.ts';
import { type FieldProblem, isTrackportError } from '#shared/errors.ts';
import { refuseTransition } from '#catalog/lifecycle/transitions.ts';
import type { Lifecycle, VersionRecord, VersionView } from '#catalog/version/artifact.ts';
import { entityTagOf, type Precondition } from '#catalog/version/entity-tag.ts';
import { readCandidatesOf } from '#catalog/version/read-version.ts';
import type { Candidate } from '#catalog/version/version-order.ts';
import { html } from '../../html.ts';
import { type ActionRequest, type ActionResult, action } from '../../routes/action-route.ts';
import { type Confirmation, requireTyped, typedForm } from '../../routes/confirmation.ts';
import type { PortalRequest } from '../../routes/portal-request.ts';
import { code } from '../../shell/elements.ts';
import type { PortalContext } from '../../context.ts';
import { artifactPath, VERSION_PATH } from '../../paths.ts';

const params = z.object({ id: z.string(), version: z.string() });
export type VersionName = z.output<typeof params>;
export const writing = { scope: 'catalog:write', params } as const;
export const publishing = { scope: 'catalog:publish', params } as const;

export type VersionAct = {
  text: string;
  may: typeof writing | typeof publishing;
  from: readonly Lifecycle[];
  /** Done at once, for it can be undone; all else has a page that asks. */
  isPressed?: boolean;
};

/** Actions on a version, in the order of a row: by whom, in which states. */
export const VERSION_ACTIONS = {
  publish: { text: 'Publish…', may: publishing, from: ['DRAFT'] },
  deprecate: { text: 'Deprecate…', may: publishing, from: ['PUBLISHED', 'DEPRECATED'] },
  retire: { text: 'Retire…', may: publishing, from: ['DEPRECATED'] },
  'unset-default': { text: 'Unset default…', may: publishing, from: ['PUBLISHED', 'DEPRECATED'] },
  edit: { text: 'Edit', may: writing, from: ['DRAFT', 'PUBLISHED', 'DEPRECATED'] },
  delete: { text: 'Delete…', may: writing, from: ['DRAFT'] },
  reinstate: { text: 'Reinstate', may: publishing, from: ['DEPRECATED'], isPressed: true },
  default: {
    text: 'Make default',
    may: publishing,
    from: ['PUBLISHED', 'DEPRECATED'],
    isPressed: true,
  },
} as const satisfies Record<string, VersionAct>;

export const callerOf = ({ person, origin }: Pick<ActionRequest, 'person' | 'origin'>): Caller => ({
  workspaceId: person.workspaceId,
  ...origin,
});

/** Entity tag of the version that a form's page showed: the action asks for it. */
export const seenOf = (view: VersionView): string => entityTagOf(view);
export const asSeen = (tag: string): Precondition => ({ kind: 'tags', tags: [tag] });

export function shown({ record }: VersionView, notice: string): ActionResult {
  return { location: artifactPath(record.id, { version: record.version }), notice };
}

/** The version that a read without one returns, if any. */
export async function readDefault(
  catalog: Catalog,
  person: { workspaceId: string },
  id: string,
): Promise<VersionView | undefined> {
  try {
    return await readView(catalog.db, person, { id, withSpec: false });
  } catch (error) {
    if (isTrackportError(error) && error.code === 'no-published-version') return undefined;
    throw error;
  }
}

/** Section and breadcrumbs of a page below a version. */
export function versionFrame({ id, title, version }: VersionRecord) {
  const artifact = { href: artifactPath(id, { version }), text: title };
  return { section: 'catalog', crumbs: [artifact] } as const;
}

/** A version that something is confirmed about. */
export type VersionRequest = PortalRequest<VersionName> & {
  view: VersionView;
  /** The other versions of its artifact. */
  others: readonly Candidate[];
};

type VersionAction<Form extends z.ZodObject> = {
  /** Before the version's name. */
  title: string;
  /** In the address, which does not ask whether it is offered. */
  action: keyof typeof VERSION_ACTIONS;
  /** Beside which version was seen, and its name where that is typed. */
  form: Form;
  /** The name of the version is typed: for what cannot be undone. */
  isFinal?: boolean;
  explain: (context: PortalContext, request: VersionRequest) => Explanation | Promise<Explanation>;
  run: (
    context: PortalContext,
    request: ActionRequest<z.output<Form>, VersionName>,
    target: VersionName & { ifMatch: Precondition },
  ) => Promise<ActionResult>;
};

/** Text of the page that asks. */
type Explanation = Pick<Confirmation, 'failed' | 'warning' | 'consequences' | 'fields' | 'submit'>;

/** Something that is confirmed about a version before it is done. */
export function versionAction<Form extends z.ZodObject>(given: VersionAction<Form>) {
  const { title, action: name, isFinal = false } = given;
  const { may, from }: VersionAct = VERSION_ACTIONS[name];
  return action({
    path: `${VERSION_PATH}/${name}`,
    ...may,
    form: given.form.extend({ seen: z.string(), ...(isFinal && typedForm.shape) }),
    confirm: async (context, request: PortalRequest<VersionName>) => {
      const { catalog } = context;
      const { person, params } = request;
      const view = await readView(catalog.db, person, { ...params, withSpec: true });
      const { record } = view;
      if (!from.includes(record.lifecycle)) refuseTransition(name, record.lifecycle);
      const versions = await readCandidatesOf(catalog.db, person.workspaceId, params.id);
      const others = versions.filter(({ version }) => version !== record.version);
      const problems = request.problems.map(inWords);
      const explanation = await given.explain(context, { ...request, problems, view, others });
      return {
        ...versionFrame(record),
        title: `${title} ${params.version}`,
        problems,
        values: { seen: seenOf(view) },
        ...explanation,
        ...(isFinal && { toType: html`Type the version: ${code(record.version)}`, danger: true }),
      };
    },
    run: async (context, request) => {
      const { params } = request;
      // The part of the form that is the action's own is checked with the whole.
      const form = request.form as z.output<Form> & { seen: string; typed: string };
      if (isFinal) requireTyped(form.typed, params.version, 'the version');
      return given.run(context, { ...request, form }, { ...params, ifMatch: asSeen(form.seen) });
    },
  });
}

/** For a page that asks: what the API would call a parameter is a box there. */
function inWords(problem: FieldProblem): FieldProblem {
  if (problem.parameter !== 'early') return explainStale(problem, 'Look again, then confirm.');
  const why = 'Its sunset is ahead, or somebody read it lately.';
  return { ...problem, detail: `${why} Tick the box to retire it all the same.` };
}

/** In words for a form: somebody else changed the version. `next` is what to do about it. */
export function explainStale(problem: FieldProblem, next: string): FieldProblem {
  if (problem.code !== 'stale') return problem;
  const what = 'Somebody else has changed this version since you opened the page.';
  return { code: 'stale', detail: `${what} ${next}` };
}
