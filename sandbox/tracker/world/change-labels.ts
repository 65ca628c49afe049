import { putIssue } from './issue-index.ts';
import type { Account, IssueRecord, Label, Repository, World } from './model.ts';
import { nextId, publish } from './world.ts';

const COLOUR_OF_MADE_LABELS = 'ededed';

export type LabelInput = { name: string; color?: string; description?: string | null };

/** Adds a label to the repository. The name must be free: see `repository.labels` first. */
export function createLabel(
  world: World,
  target: { repository: Repository; by: Account },
  input: LabelInput,
): Label {
  const label: Label = {
    id: nextId(world),
    name: input.name,
    color: input.color ?? COLOUR_OF_MADE_LABELS,
    description: input.description ?? null,
  };
  target.repository.labels.set(label.name.toLowerCase(), label);
  world.version += 1;
  publish(world, { event: 'label', action: 'created', label, ...senderOf(target) });
  return label;
}

/** The repository's labels of these names, each once, in this order; missing ones are made. */
export function labelsNamed(
  world: World,
  target: { repository: Repository; by: Account },
  names: readonly string[],
): Label[] {
  const labels = new Map<string, Label>();
  for (const name of names) {
    const key = name.toLowerCase();
    labels.set(key, target.repository.labels.get(key) ?? createLabel(world, target, { name }));
  }
  return [...labels.values()];
}

/** Renames or recolours a label everywhere; a new name must be free. No issue's `updatedAt` moves, as on the real tracker. */
export function editLabel(
  world: World,
  target: { repository: Repository; by: Account; label: Label },
  patch: Partial<LabelInput>,
): Label {
  const old = target.label;
  const label: Label = {
    id: old.id,
    name: patch.name ?? old.name,
    color: patch.color ?? old.color,
    description: patch.description === undefined ? old.description : patch.description,
  };
  const { labels } = target.repository;
  const entries = [...labels].map(([key, value]) =>
    value.id === old.id ? ([label.name.toLowerCase(), label] as const) : ([key, value] as const),
  );
  labels.clear();
  for (const [key, value] of entries) labels.set(key, value);
  replaceOnIssues(world, target.repository, (carried) =>
    carried.id === old.id ? [label] : [carried],
  );
  const changes = () => changedFields(old, label);
  publish(world, { event: 'label', action: 'edited', label, changes, ...senderOf(target) });
  return label;
}

/** Takes a label off the repository and every issue, and tells of each. No issue's `updatedAt` moves. */
export function deleteLabel(
  world: World,
  target: { repository: Repository; by: Account; label: Label },
): void {
  const { label, repository } = target;
  const carriers = [...repository.issues.byNumber.values()].filter(
    ({ isPullRequest, labels }) => !isPullRequest && labels.some(({ id }) => id === label.id),
  );
  repository.labels.delete(label.name.toLowerCase());
  replaceOnIssues(world, repository, (carried) => (carried.id === label.id ? [] : [carried]));
  for (const { number } of carriers) {
    const issue = repository.issues.byNumber.get(number);
    if (issue)
      publish(world, { event: 'issues', action: 'unlabeled', issue, label, ...senderOf(target) });
  }
  publish(world, { event: 'label', action: 'deleted', label, ...senderOf(target) });
}

function changedFields(old: Label, label: Label): Record<string, unknown> {
  return {
    ...(old.name === label.name ? {} : { name: { from: old.name } }),
    ...(old.color === label.color ? {} : { color: { from: old.color } }),
    ...(old.description === label.description
      ? {}
      : { description: { from: old.description ?? '' } }),
  };
}

function replaceOnIssues(
  world: World,
  repository: Repository,
  replace: (label: Label) => Label[],
): void {
  for (const index of new Set([repository.issues, repository.replica])) {
    for (const record of index.byNumber.values()) {
      const labels = record.labels.flatMap(replace);
      if (isSame(labels, record)) continue;
      putIssue(index, { ...record, labels });
    }
  }
  // A replica that lags gets old states, too, with the labels of today.
  for (const write of world.lagging)
    if (write.record && write.repository === repository)
      write.record = { ...write.record, labels: write.record.labels.flatMap(replace) };
  world.version += 1;
}

function isSame(labels: readonly Label[], record: IssueRecord): boolean {
  return (
    labels.length === record.labels.length &&
    labels.every((label, at) => label === record.labels[at])
  );
}

function senderOf(target: { repository: Repository; by: Account }) {
  return { repository: target.repository, sender: target.by };
}
