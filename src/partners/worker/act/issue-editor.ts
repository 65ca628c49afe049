import type { FieldValue } from '#leads/lead-tracker.ts';
import type { FieldSetting } from '../../receipts/event-progress.ts';
import type { EventErrorCode } from '../../receipts/receipt.ts';
import type { IssueEdit, IssueContent } from './issue-edit.ts';

/** Why something could not be done now, or not at all. Codes hold no data of the tracker. */
export type TrackerRefusal =
  /** May go well at another time. */
  | { kind: 'transient'; code: EventErrorCode }
  /** A rate limit is in force until `retryAt` (ms since the Unix epoch). Nothing was done. */
  | { kind: 'limited'; retryAt: number }
  /** The credential or the repository itself does not allow it: nothing can be done for anyone. */
  | { kind: 'paused'; code: PauseCode }
  /** Not allowed, and the tracker tells no reason: this issue's own, or the same for all. */
  | { kind: 'forbidden' }
  /** The issue is not there, and the repository says that it is well. */
  | { kind: 'gone'; isDeleted: boolean }
  /** The issue was moved to another repository. */
  | { kind: 'transferred' }
  /** The tracker understood and refused. */
  | { kind: 'invalid'; code: EventErrorCode };

export type PauseCode =
  | 'unauthorized'
  | 'forbidden'
  | 'version-retired'
  | 'repository-missing'
  | 'issues-disabled';

/** An issue as the worker reads it before it writes. */
export type EditableIssue = IssueContent & {
  number: number;
  /** Id in GraphQL. */
  nodeId: string;
  /** Number of comments; undefined where the tracker does not say. */
  comments?: number | undefined;
  subIssues?: number | undefined;
  /** Something happened to it since the second of its creation: it may have earlier texts. */
  isTouched?: boolean | undefined;
};

/**
 * Port: what the worker writes to issues, one method for each need. Nothing is thrown for what the tracker
 * answers; redirects are never followed; a response about another issue is nonsense.
 */
export type IssueEditor = {
  /** False: there is no token for `remove`, which then calls nobody. */
  canRemove(): boolean;
  /** Asks for the repository itself. */
  checkRepository(): Promise<{ kind: 'well' } | TrackerRefusal>;
  /** Asks for the repository, and whether the tracker tells that issues there may not be changed. */
  checkWriting(): Promise<{ kind: 'well' } | TrackerRefusal>;
  /** Always a request to the tracker. */
  read(
    number: number,
  ): Promise<{ kind: 'issue'; issue: EditableIssue } | { kind: 'pull-request' } | TrackerRefusal>;
  /**
   * Writes all of the edit at once and returns the issue as it is then. `reason-refused`: nothing was done, for the
   * tracker does not take the reason for closing.
   */
  edit(
    number: number,
    edit: IssueEdit,
  ): Promise<{ kind: 'done'; issue: IssueContent } | { kind: 'reason-refused' } | TrackerRefusal>;
  /**
   * Gives typed fields of the tracker values, by their names, and returns those that the issue has then. `known` are
   * those that it has now. `forbidden` is the credential's own.
   */
  setFields(
    number: number,
    settings: readonly FieldSetting[],
    known: readonly FieldValue[],
  ): Promise<{ kind: 'done'; fieldValues: readonly FieldValue[] } | TrackerRefusal>;
  /** Takes the value of a typed field away; `forbidden` is the credential's own. */
  clearField(number: number, fieldId: number): Promise<{ kind: 'done' } | TrackerRefusal>;
  /** Looks through the comments for a text that contains the marker; `isAlone` when the issue has no other. */
  findComment(
    number: number,
    marker: string,
  ): Promise<{ kind: 'found'; isAlone: boolean } | { kind: 'none' } | TrackerRefusal>;
  comment(number: number, text: string): Promise<{ kind: 'done' } | TrackerRefusal>;
  /**
   * `impossible`: there is no token for it, or it may not. `isCertain` when the tracker
   * said so of this issue, and not only refused the token.
   */
  remove(
    nodeId: string,
  ): Promise<{ kind: 'done' } | { kind: 'impossible'; isCertain: boolean } | TrackerRefusal>;
  /** Counts the revisions of the body that can still be read. Undefined when that cannot be told. */
  countRevisions(nodeId: string): Promise<number | undefined>;
};
