import { refuseTransition } from '#catalog/lifecycle/lifecycle.ts';
import { type Lifecycle, type VersionRecord, VERSIONS_MAX } from '#catalog/version/artifact.ts';
import type { VersionView } from '#catalog/version/version-view.ts';
import { html, type Html } from '../../html.ts';
import type { FormProblem, TypedFields } from '../../page.ts';
import { typedField, typedForm } from '../../retyped.ts';
import { type Question, questionPage, type QuestionRequest } from '../../routes/question-page.ts';
import { code } from '../../shell/parts.ts';
import { type CatalogPagesDeps, placeOf, seen, seenOf, type VersionName } from './versions.ts';

/** A version that something is asked about. */
export type VersionRequest = QuestionRequest<VersionName> & {
  view: VersionView;
  /** The other versions of its artifact. */
  others: readonly VersionRecord[];
};

type Kind = { title: string; action: string; from: readonly Lifecycle[] };
type Rest = Omit<Question, 'section' | 'title' | 'crumbs' | 'problems' | 'values'>;

/** Asks about a version in one of these states: its artifact offers it there alone, an address does not ask. */
export function versionQuestion(
  deps: CatalogPagesDeps,
  { title, action, from }: Kind,
  ask: (request: VersionRequest) => Rest | Promise<Rest>,
) {
  const { catalog } = deps;
  return questionPage(deps, async (request: QuestionRequest<VersionName>) => {
    const { person, params: name } = request;
    const reader = { workspaceId: person.workspaceId };
    const view = await catalog.read(reader, { ...name, withSpec: true });
    const { record } = view;
    if (!from.includes(record.lifecycle)) refuseTransition(action, record.lifecycle);
    const { items } = await catalog.listVersions(reader, { id: name.id, limit: VERSIONS_MAX });
    const others = items.filter(({ version }) => version !== record.version);
    const problems = request.problems.map(explainAsked);
    return {
      ...placeOf(record),
      title: `${title} ${name.version}`,
      problems,
      values: { seen: seenOf(view) },
      ...(await ask({ ...request, problems, view, others })),
    };
  });
}

/** In words for a page that asks: what the API would call a parameter is a box there. */
function explainAsked(problem: FormProblem): FormProblem {
  if (problem.parameter !== 'early') return explainStale(problem);
  return { ...problem, detail: 'Its sunset is ahead. Tick the box to retire it before.' };
}

export const typedVersionForm = typedForm.extend({ seen });

export function typedVersion({ view, problems }: VersionRequest): Html {
  return typedField(html`Type the version: ${code(view.record.version)}`, problems);
}

const LABELS: Readonly<Record<string, string>> = {
  title: 'title',
  owner: 'owner',
  description: 'description',
  groupPath: 'group path',
  projectId: 'project',
  type: 'type',
  source: 'source',
  members: 'members',
  counts: 'counts',
};

type Compared = { current: Readonly<Record<string, string>>; typed: TypedFields | undefined };

/** In words for a form: somebody else changed the version, and where it differs from what was typed. */
export function explainStale(problem: FormProblem, compared?: Compared): FormProblem {
  if (problem.code !== 'stale') return problem;
  const start = 'Somebody else has changed this version since you opened the page.';
  if (!compared) return { code: 'stale', detail: `${start} Look again, then confirm.` };
  const { current, typed = {} } = compared;
  const differing = Object.entries(LABELS).filter(
    ([name]) => name in typed && plain(typed[name]) !== plain(current[name]),
  );
  const words = differing.map(([, label]) => label).join(', ');
  const where = words === '' ? '' : ` Now it differs from yours in: ${words}.`;
  return { code: 'stale', detail: `${start}${where} Save again to overwrite it.` };
}

const plain = (text: string | string[] | undefined): string =>
  String(text ?? '')
    .replaceAll('\r\n', '\n')
    .trim();
