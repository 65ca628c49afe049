/**
 * The tracker as reading leads needs it. `adapters/github` implements it over REST; nothing above
 * that folder knows Octokit.
 */

import { TrackportError } from '#shared/errors.ts';

/** Lag of a replica of the tracker: it may answer as before a change, and of a new issue that there is none. */
export const REPLICA_LAG_MAX_MS = 15_000;

/** The value of one of the tracker's typed fields. */
export type FieldValue = {
  /** The field's number. */
  id: number;
  name: string;
  /** `text`, `number`, `date`, `single_select`, `multi_select`, or what may come. */
  kind: string;
  /** Of options their names. Empty where nothing can be read. */
  value: string | number | readonly string[];
};

/** An issue as the tracker has it, whatever shape its wire format has. Pull requests included. */
export type Issue = {
  number: number;
  /** The address of its page; undefined when the tracker did not tell. */
  url?: string;
  title: string;
  /** `''` when the tracker has none. */
  body: string;
  state: 'open' | 'closed';
  labels: readonly string[];
  /** Logins, in the tracker's order. */
  assignees: readonly string[];
  /** Login; undefined when the account was deleted. */
  author?: string;
  /** Name of its type. */
  type?: string;
  /** Undefined: the tracker told nothing of them, which older ones and some of its events do not. */
  fieldValues?: readonly FieldValue[];
  /** Milliseconds since the Unix epoch. */
  createdAt: number;
  /** Milliseconds since the Unix epoch; the tracker keeps whole seconds. */
  updatedAt: number;
  isPullRequest: boolean;
};

/** An issue without its people and its texts: enough to decide whether and where it is listed. */
export type ListedIssue = Pick<
  Issue,
  'number' | 'state' | 'labels' | 'createdAt' | 'updatedAt' | 'isPullRequest'
>;

/** A query for issues. They carry all the labels, whose names compare without regard to case. */
export type IssueQuery = {
  state: 'open' | 'closed' | 'all';
  labels: readonly string[];
  /** Newest created first, or longest unchanged first. Ties are in no promised order. */
  order: 'created-desc' | 'updated-asc';
  /** Only issues changed at or after this instant (ms); the tracker may be off by one second. */
  since?: number;
  /** The tracker's own cursor: start behind the page that it came with. */
  after?: string;
};

/** Up to 100 issues; `after` is there when the tracker says that more follow. */
export type IssuePage = { issues: readonly Issue[]; after?: string };

/** `validator` is opaque: pass it back to ask "changed since?". */
export type PageResult =
  | { kind: 'changed'; page: IssuePage; validator?: string }
  /**
   * Same rows as before, but the cursor of the next page may be new. Without one the old cursor
   * stays good: behind it may be nothing. Costs no quota.
   */
  | { kind: 'unchanged'; after?: string };

export type IssueResult =
  | { kind: 'changed'; issue: Issue; validator?: string }
  | { kind: 'unchanged' }
  /**
   * No such issue here: never was, deleted, or moved away. The repository itself is well. `isMoved`:
   * the tracker says that it is in another repository; where that is hidden it does not.
   */
  | { kind: 'absent'; isMoved: boolean; isDeleted?: boolean };

/** The tracker's quota as it was told last. Instants are milliseconds since the Unix epoch. */
export type TrackerQuota = {
  limit: number;
  remaining: number;
  resetAt: number;
};

/**
 * Every call obeys the adapter's deadline and throws
 * `tracker-failed` when a success cannot be understood, `tracker-unavailable` for everything else
 * (with `retryAfterSeconds` where the tracker named a time). While a limit is in force it throws
 * without calling the tracker.
 */
export type LeadTracker = {
  /** @throws {tracker-failed} @throws {tracker-unavailable} */
  listIssues(query: IssueQuery, validator?: string): Promise<PageResult>;
  /** @throws {tracker-failed} @throws {tracker-unavailable} */
  readIssue(number: number, validator?: string): Promise<IssueResult>;
  /** Undefined until the first response. */
  quota: () => TrackerQuota | undefined;
};

/** A delivery of the tracker's webhook, as it came. */
export type TrackerDelivery = {
  /** `X-GitHub-Event`. The signature does not cover it. */
  event?: string | undefined;
  /** `X-Hub-Signature-256`. */
  signature?: string | undefined;
  rawBody: Buffer;
};

/** The refusal of a delivery whose signature proves nothing, whoever finds that out. */
export function unsignedDelivery(): TrackportError {
  return new TrackportError('unauthorized', {
    detail: 'X-Hub-Signature-256 is missing or does not match the body.',
    challenge: 'Signature',
  });
}

/** A webhook of the tracker, reduced to what readers and the lead directory need. */
export type TrackerEvent =
  /** `isGone`: deleted, or transferred to another repository, which `isMoved` tells. */
  | { kind: 'issue'; issue: Issue; isGone: boolean; isMoved?: boolean }
  /** A label or the repository itself changed: any issue may look different now. */
  | { kind: 'everything'; renamedLabel?: { from: string; to: string } }
  /** Genuine, but nothing to do (`ping`, other events, pull requests). */
  | { kind: 'ignored' };
