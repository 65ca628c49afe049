import { createField } from '../tracker/world/change-attributes.ts';
import { addComment } from '../tracker/world/change-comments.ts';
import {
  createIssue,
  editIssue,
  type IssuePatch,
  type IssueTarget,
  type NewIssue,
  seedIssues,
  type Target,
} from '../tracker/world/change-issues.ts';
import {
  createLabel,
  deleteLabel,
  editLabel,
  type LabelInput,
} from '../tracker/world/change-labels.ts';
import { editRepository, type RepositoryPatch } from '../tracker/world/change-repository.ts';
import { deleteIssue, transferIssue } from '../tracker/world/depart-issues.ts';
import type {
  Account,
  Comment,
  IssueField,
  IssueRecord,
  Label,
  Repository,
  VersionEnd,
  World,
} from '../tracker/world/model.ts';
import { invalid } from '../tracker/api/response.ts';
import { accountOf, createRepository, repositoryNamed } from '../tracker/world/world.ts';

/** Changes made at the tracker's own surface, as a person with all rights would make them. */
export type Controls = {
  createIssue(input: NewIssue): IssueRecord;
  /** Many issues at once, without webhooks. */
  seedIssues(inputs: readonly NewIssue[]): void;
  editIssue(number: number, patch: IssuePatch): IssueRecord;
  /** Adds and takes off labels by name. */
  relabel(
    number: number,
    change: { add?: readonly string[]; remove?: readonly string[] },
  ): IssueRecord;
  setState(number: number, state: 'open' | 'closed'): IssueRecord;
  /** From now on answers to requests of this version announce its end, and after that it is 410. */
  endVersion(version: string, end: VersionEnd): void;
  addComment(number: number, body: string): Comment;
  /** Readers get 410, or 404 with `hidden`. */
  deleteIssue(number: number, options?: { hidden?: boolean }): void;
  /** To `owner/name`, made when missing. Readers get 301, or 404 with `hidden`. */
  transferIssue(number: number, to: string, options?: { hidden?: boolean }): IssueRecord;
  /** A person deletes the text of one revision of the body (0 is the original). */
  deleteRevision(number: number, at: number): void;
  createLabel(input: LabelInput): Label;
  /** Gives the organization a typed field, or one that it has other options. */
  createField(input: Parameters<typeof createField>[1]): IssueField;
  renameLabel(name: string, newName: string): Label;
  deleteLabel(name: string): void;
  /** The old name redirects from now on. `name` is without the owner. */
  renameRepository(name: string): void;
  editRepository(patch: RepositoryPatch): void;
  disableIssues(): void;
  /** The issue as it is now; `repository` (`owner/name`) default the tracker's own. */
  readIssue(number: number, repository?: string): IssueRecord | undefined;
  /** In ascending order of number. */
  issues(): IssueRecord[];
};

/** The tracker under control, and the account that changes it. */
export type ControlledTracker = { world: World; repository: Repository; by: Account };

export function createControls(tracker: ControlledTracker): Controls {
  const { world } = tracker;
  return {
    createIssue: (input) => createIssue(world, tracker, input),
    seedIssues: (inputs) => seedIssues(world, tracker, inputs),
    editIssue: (number, patch) => editIssue(world, targetOf(tracker, number), patch),
    relabel: (number, change) => relabel(tracker, number, change),
    setState: (number, state) => editIssue(world, targetOf(tracker, number), { state }),
    addComment: (number, body) => addComment(world, targetOf(tracker, number), body),
    deleteIssue: (number, options) => {
      deleteIssue(world, targetOf(tracker, number));
      hide(tracker, number, options);
    },
    transferIssue: (number, to, options) => {
      const destination = repositoryNamed(world, to) ?? createRepository(world, to);
      const moved = transferIssue(world, targetOf(tracker, number), destination);
      hide(tracker, number, options);
      return moved;
    },
    endVersion: (version, end) => void world.versionEnds.set(version, end),
    deleteRevision: (number, at) => deleteRevision(tracker, number, at),
    createField: (input) => createField(world, input),
    ...labelControls(tracker),
    renameRepository: (name) => editRepository(world, tracker, { name }),
    editRepository: (patch) => editRepository(world, tracker, patch),
    disableIssues: () => editRepository(world, tracker, { hasIssues: false }),
    readIssue: (number, name) =>
      (name ? repositoryNamed(world, name) : tracker.repository)?.issues.byNumber.get(number),
    issues: () =>
      [...tracker.repository.issues.byNumber.values()].sort((a, b) => a.number - b.number),
  };
}

function labelControls(tracker: ControlledTracker) {
  const { world, repository } = tracker;
  const target = (name: string): Target & { label: Label } => {
    const label = repository.labels.get(name.toLowerCase());
    if (!label) throw new Error(`the sandbox tracker has no label ${name}`);
    return { ...tracker, label };
  };
  return {
    createLabel: (input: LabelInput) =>
      repository.labels.get(input.name.toLowerCase()) ?? createLabel(world, tracker, input),
    renameLabel: (name: string, newName: string) => {
      const known = repository.labels.get(newName.toLowerCase());
      if (known && known !== target(name).label)
        throw invalid({ resource: 'Label', field: 'name', code: 'already_exists' });
      return editLabel(world, target(name), { name: newName });
    },
    deleteLabel: (name: string) => deleteLabel(world, target(name)),
  };
}

function targetOf(tracker: ControlledTracker, number: number): IssueTarget {
  const issue = tracker.repository.issues.byNumber.get(number);
  if (!issue) throw new Error(`the sandbox tracker has no issue ${number}`);
  return { repository: tracker.repository, by: tracker.by, issue };
}

function relabel(
  tracker: ControlledTracker,
  number: number,
  { add = [], remove = [] }: { add?: readonly string[]; remove?: readonly string[] },
): IssueRecord {
  const target = targetOf(tracker, number);
  const removed = new Set(remove.map((name) => name.toLowerCase()));
  const before = target.issue.labels.map(({ name }) => name);
  const labels = [...before.filter((name) => !removed.has(name.toLowerCase())), ...add];
  return editIssue(tracker.world, target, { labels });
}

function hide(
  { repository }: ControlledTracker,
  number: number,
  options: { hidden?: boolean } = {},
): void {
  const departure = repository.departures.get(number);
  if (departure && options.hidden) departure.isHidden = true;
}

function deleteRevision(tracker: ControlledTracker, number: number, at: number): void {
  const revision = targetOf(tracker, number).issue.revisions[at];
  if (!revision) throw new Error(`issue ${number} has no revision ${at}`);
  revision.text = null;
  revision.deletedAt = tracker.world.clock.now();
  revision.deletedBy = accountOf(tracker.world, tracker.by.login);
}
