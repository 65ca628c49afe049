import type { FormProblem, TypedFields } from '../../page.ts';

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
