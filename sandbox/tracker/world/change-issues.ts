import { type AttributePatch, attributesAfter } from './change-attributes.ts';
import { labelsNamed } from './change-labels.ts';
import { putIssues } from './issue-index.ts';
import type {
  Account,
  FieldValue,
  IssueRecord,
  IssueType,
  Label,
  Repository,
  StateReason,
  World,
} from './model.ts';
import { accountOf, commitIssue, nextId, nowInSeconds, publish } from './world.ts';

export type NewIssue = AttributePatch & {
  title: string;
  body?: string | null;
  labels?: readonly string[];
  assignees?: readonly string[];
  /** Login; null is a deleted account. Default: who creates it. */
  author?: string | null;
  isPullRequest?: boolean;
  /** Number of issues below it; they do not exist here. */
  subIssues?: number;
  state?: 'open' | 'closed';
  stateReason?: StateReason;
  /** Milliseconds; default now. */
  createdAt?: number;
  updatedAt?: number;
};

export type IssuePatch = AttributePatch & {
  title?: string;
  body?: string | null;
  state?: 'open' | 'closed';
  stateReason?: StateReason | null;
  /** Names; the issue then has these labels and no others. */
  labels?: readonly string[];
  /** Logins; the same. */
  assignees?: readonly string[];
};

/** The repository that is changed, and the account that does it. */
export type Target = { repository: Repository; by: Account };
export type IssueTarget = Target & { issue: IssueRecord };

/** Opens an issue and publishes that. */
export function createIssue(world: World, target: Target, input: NewIssue): IssueRecord {
  const record = commitIssue(world, target.repository, recordOf(world, target, input));
  publishIssueChange(world, target, { action: 'opened', issue: record });
  return record;
}

/** Puts many issues at once without telling anybody: for seeds and benches. */
export function seedIssues(world: World, target: Target, inputs: readonly NewIssue[]): void {
  const records = inputs.map((input) => recordOf(world, target, input));
  const { issues, replica } = target.repository;
  for (const index of new Set([issues, replica])) putIssues(index, records);
  world.version += 1;
}

function recordOf(world: World, target: Target, input: NewIssue): IssueRecord {
  const { repository, by } = target;
  const createdAt = input.createdAt ?? nowInSeconds(world);
  const updatedAt = input.updatedAt ?? createdAt;
  const number = repository.nextNumber;
  repository.nextNumber += 1;
  return {
    id: nextId(world),
    number,
    title: input.title,
    body: input.body ?? null,
    author: input.author === null ? null : accountOf(world, input.author ?? by.login),
    labels: labelsNamed(world, target, input.labels ?? []),
    assignees: accountsNamed(world, input.assignees ?? []),
    ...attributesAfter(world, input),
    comments: [],
    revisions: [],
    isPullRequest: input.isPullRequest ?? false,
    subIssues: input.subIssues ?? 0,
    locked: false,
    createdAt,
    updatedAt,
    ...(input.state === 'closed' ? closedSince(updatedAt, by, input) : STILL_OPEN),
  };
}

const STILL_OPEN = { state: 'open', stateReason: null, closedAt: null, closedBy: null } as const;

function closedSince(closedAt: number, closedBy: Account, { stateReason = 'completed' }: NewIssue) {
  return { state: 'closed', stateReason, closedAt, closedBy } as const;
}

/** Applies a patch and publishes each change by itself. A patch that changes nothing moves no date. */
export function editIssue(world: World, target: IssueTarget, patch: IssuePatch): IssueRecord {
  const old = target.issue;
  const next: IssueRecord = {
    ...old,
    ...textAfter(world, target, patch),
    ...stateAfter(world, target, withStateOfStatus(patch)),
    ...attributesAfter(world, patch, old),
    labels: patch.labels ? labelsNamed(world, target, patch.labels) : old.labels,
    assignees: patch.assignees ? accountsNamed(world, patch.assignees) : old.assignees,
  };
  if (!differs(old, next)) return old;
  const record = commitIssue(world, target.repository, { ...next, updatedAt: touched(world, old) });
  publishText(world, target, record);
  publishLabels(world, target, record);
  publishAssignees(world, target, record);
  publishAttributes(world, target, record);
  // A status that closes or reopens tells that in its own event.
  if (old.state !== record.state && old.status === record.status) {
    const action = record.state === 'closed' ? 'closed' : 'reopened';
    publishIssueChange(world, target, { action, issue: record });
  }
  return record;
}

/** Puts a lock on the conversation, or takes it off. */
export function lockIssue(world: World, target: IssueTarget, locked: boolean): void {
  if (target.issue.locked === locked) return;
  const updatedAt = touched(world, target.issue);
  const issue = commitIssue(world, target.repository, { ...target.issue, locked, updatedAt });
  publishIssueChange(world, target, { action: locked ? 'locked' : 'unlocked', issue });
}

/** The instant of a change: now, but never before the last one. */
export function touched(world: World, issue: IssueRecord): number {
  return Math.max(nowInSeconds(world), issue.updatedAt);
}

function accountsNamed(world: World, logins: readonly string[]): Account[] {
  return [...new Set(logins.map((login) => accountOf(world, login)))];
}

/** The first edit of a body is what makes the original a revision that stays readable. */
function textAfter(world: World, { issue, by }: IssueTarget, patch: IssuePatch) {
  const title = patch.title ?? issue.title;
  if (patch.body === undefined || patch.body === issue.body) return { title };
  const original = {
    id: nextId(world),
    text: issue.body ?? '',
    editor: issue.author ?? by,
    editedAt: issue.createdAt,
  };
  const edit = {
    id: nextId(world),
    text: patch.body ?? '',
    editor: by,
    editedAt: nowInSeconds(world),
  };
  const before = issue.revisions.length > 0 ? issue.revisions : [original];
  return { title, body: patch.body, revisions: [...before, edit] };
}

const REASON_OF_CATEGORY = new Map<string, StateReason>([
  ['completed', 'completed'],
  ['not_planned', 'not_planned'],
  ['duplicate', 'duplicate'],
]);

/** A status decides whether the issue is open. */
function withStateOfStatus(patch: IssuePatch): IssuePatch {
  if (!patch.status) return patch;
  const stateReason = REASON_OF_CATEGORY.get(patch.status.category);
  return stateReason ? { ...patch, state: 'closed', stateReason } : { ...patch, state: 'open' };
}

function stateAfter(world: World, { issue, by }: IssueTarget, patch: IssuePatch) {
  const state = patch.state ?? issue.state;
  if (state === 'closed') {
    const stateReason = patch.stateReason ?? (issue.state === 'closed' ? issue.stateReason : null);
    const closed = issue.state === 'closed' ? {} : { closedAt: nowInSeconds(world), closedBy: by };
    return { state, stateReason: stateReason ?? ('completed' as const), ...closed };
  }
  const stateReason = issue.state === 'closed' ? ('reopened' as const) : issue.stateReason;
  return { state, stateReason, closedAt: null, closedBy: null };
}

function differs(old: IssueRecord, next: IssueRecord): boolean {
  const isChanged = (Object.keys(next) as (keyof IssueRecord)[]).some(
    (key) => key !== 'labels' && key !== 'assignees' && old[key] !== next[key],
  );
  return (
    isChanged ||
    missing(old.labels, next.labels).length + missing(next.labels, old.labels).length > 0 ||
    missing(old.assignees, next.assignees).length > 0 ||
    missing(next.assignees, old.assignees).length > 0
  );
}

/** Those of `of` that `from` has not. */
function missing<T extends { id: number }>(of: readonly T[], from: readonly T[]): T[] {
  return of.filter((item) => !from.some(({ id }) => id === item.id));
}

function publishText(world: World, target: IssueTarget, issue: IssueRecord): void {
  const old = target.issue;
  if (old.title === issue.title && old.body === issue.body) return;
  const changes = () => ({
    ...(old.title === issue.title ? {} : { title: { from: old.title } }),
    ...(old.body === issue.body ? {} : { body: { from: old.body ?? '' } }),
  });
  publishIssueChange(world, target, { action: 'edited', issue, changes });
}

function publishLabels(world: World, target: IssueTarget, issue: IssueRecord): void {
  for (const label of missing(target.issue.labels, issue.labels))
    publishIssueChange(world, target, { action: 'unlabeled', issue, label });
  for (const label of missing(issue.labels, target.issue.labels))
    publishIssueChange(world, target, { action: 'labeled', issue, label });
}

function publishAssignees(world: World, target: IssueTarget, issue: IssueRecord): void {
  for (const assignee of missing(target.issue.assignees, issue.assignees))
    publishIssueChange(world, target, { action: 'unassigned', issue, assignee });
  for (const assignee of missing(issue.assignees, target.issue.assignees))
    publishIssueChange(world, target, { action: 'assigned', issue, assignee });
}

function publishAttributes(world: World, target: IssueTarget, issue: IssueRecord): void {
  const old = target.issue;
  const tell = (change: Omit<IssueChange, 'issue'>): void =>
    publishIssueChange(world, target, { ...change, issue });
  if (old.type !== issue.type && old.type) tell({ action: 'untyped', issueType: old.type });
  if (old.type !== issue.type && issue.type) tell({ action: 'typed', issueType: issue.type });
  for (const fieldValue of missing(old.fieldValues, issue.fieldValues))
    tell({ action: 'field_removed', fieldValue });
  for (const fieldValue of issue.fieldValues.filter((value) => !old.fieldValues.includes(value))) {
    const formerValue = old.fieldValues.find(({ id }) => id === fieldValue.id);
    tell({ action: 'field_added', fieldValue, ...(formerValue && { formerValue }) });
  }
  if (old.status === issue.status) return;
  const state = old.state === issue.state ? {} : { state: { from: old.state } };
  tell({ action: 'status_changed', changes: () => ({ status: { from: old.status }, ...state }) });
}

type IssueChange = {
  action: string;
  issue: IssueRecord;
  label?: Label;
  assignee?: Account;
  issueType?: IssueType;
  fieldValue?: FieldValue;
  formerValue?: FieldValue;
  changes?: () => Record<string, unknown>;
};

/** Pull requests have events of another kind, which nobody here subscribes to. */
export function publishIssueChange(world: World, target: Target, change: IssueChange): void {
  if (change.issue.isPullRequest) return;
  publish(world, {
    event: 'issues',
    repository: target.repository,
    sender: target.by,
    ...change,
  });
}
