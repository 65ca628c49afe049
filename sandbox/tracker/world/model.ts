import type { Clock } from '#shared/clock.ts';
import type { NewId } from '#shared/ids.ts';

/**
 * Data of the sandbox tracker. Issues are immutable records: a change commits a new record in
 * place of the old one, so that a lagging replica is nothing but an index that is updated later.
 * Instants are milliseconds since the Unix epoch, always whole seconds, as the real tracker has them.
 */

export type Account = { login: string; id: number; kind: 'User' | 'Organization' | 'Bot' };

export type Label = { id: number; name: string; color: string; description: string | null };

export type Comment = {
  id: number;
  body: string;
  author: Account;
  createdAt: number;
  updatedAt: number;
};

/** One revision of a body. `text` is gone once a person deleted the revision. */
export type Revision = {
  id: number;
  text: string | null;
  editor: Account;
  editedAt: number;
  deletedAt?: number;
  deletedBy?: Account;
};

export type StateReason = 'completed' | 'reopened' | 'not_planned' | 'duplicate';

export type IssueType = { id: number; name: string };

/** `category` says what a status means, whatever its name. */
type IssueStatus = { id: number; name: string; category: string };

export type IssueField = {
  id: number;
  name: string;
  dataType: 'text' | 'number' | 'date' | 'single_select' | 'multi_select';
  /** Names; a field of another kind has none. */
  options: readonly string[];
};

export type FieldValue = {
  id: number;
  field: IssueField;
  value: string | number | readonly string[];
};

export type IssueRecord = {
  readonly id: number;
  readonly number: number;
  readonly title: string;
  readonly body: string | null;
  readonly state: 'open' | 'closed';
  readonly stateReason: StateReason | null;
  /** Null when the account was deleted. */
  readonly author: Account | null;
  readonly labels: readonly Label[];
  readonly assignees: readonly Account[];
  readonly type: IssueType | null;
  readonly status: IssueStatus | null;
  readonly fieldValues: readonly FieldValue[];
  readonly comments: readonly Comment[];
  readonly revisions: readonly Revision[];
  readonly isPullRequest: boolean;
  readonly subIssues: number;
  readonly locked: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly closedAt: number | null;
  readonly closedBy: Account | null;
};

/** Fate of a number that is no issue of its repository any more. */
type Departure = {
  /** Readers get 404: they may not see where it went. */
  isHidden?: boolean;
} & ({ kind: 'deleted' } | { kind: 'transferred'; repositoryId: number; number: number });

export type Repository = {
  readonly id: number;
  readonly owner: Account;
  readonly createdAt: number;
  name: string;
  isPrivate: boolean;
  isArchived: boolean;
  hasIssues: boolean;
  /** `collaborators_only`: nobody else opens an issue. */
  issueCreationPolicy: 'all' | 'collaborators_only';
  updatedAt: number;
  nextNumber: number;
  /** By lower-case name: label names do not differ by case alone. */
  readonly labels: Map<string, Label>;
  readonly issues: IssueIndex;
  /** Index that reads see: the same, or one that lags behind. */
  readonly replica: IssueIndex;
  readonly departures: Map<number, Departure>;
};

/** `id` is the order that the real tracker falls back to when `sort` names nothing it knows. */
export type SortKey = 'created' | 'updated' | 'comments' | 'id';

/** Issues by number and in ascending order of each sort key, ties by id. */
export type IssueIndex = {
  readonly byNumber: Map<number, IssueRecord>;
  readonly ordered: Map<SortKey, IssueRecord[]>;
};

/** A change as webhooks report it. Records are those after the change. */
export type TrackerChange = {
  event: 'issues' | 'issue_comment' | 'label' | 'repository';
  action: string;
  repository: Repository;
  sender: Account;
  issue?: IssueRecord;
  comment?: Comment;
  label?: Label;
  assignee?: Account;
  issueType?: IssueType;
  fieldValue?: FieldValue;
  /** Of a value that took the place of another one. */
  formerValue?: FieldValue;
  /** Documents of the `changes` member; built late, since most changes have no listener. */
  changes?: () => Record<string, unknown>;
};

/** Milliseconds since the Unix epoch. */
export type VersionEnd = { deprecatedAt: number; sunsetAt: number };

export type World = {
  readonly clock: Clock;
  readonly newId: NewId;
  /** `http://127.0.0.1:port`, known once the server listens. */
  origin: string;
  readonly replicaLagMs: number;
  readonly repositories: Map<number, Repository>;
  /** Lower-case `owner/name` → id; old names stay, as redirects do. */
  readonly names: Map<string, number>;
  readonly accounts: Map<string, Account>;
  /** The organization's, by name. */
  readonly fields: Map<string, IssueField>;
  /** Of types, statuses and options, by kind and name. */
  readonly ids: Map<string, number>;
  readonly lagging: LaggingWrite[];
  readonly listeners: ((change: TrackerChange) => void)[];
  /** End of versions of the API, by version. */
  readonly versionEnds: Map<string, VersionEnd>;
  /** List rows as bytes of JSON, for the repository's name and API version that `key` holds. */
  readonly rendered: WeakMap<IssueRecord, { key: string; bytes: Buffer }>;
  nextId: number;
  /** Grows with every change that a reader could see. */
  version: number;
};

type LaggingWrite = {
  visibleAt: number;
  repository: Repository;
  number: number;
  record: IssueRecord | undefined;
};
