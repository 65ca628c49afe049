import { type Clock, MINUTE } from '#shared/clock.ts';
import { isTrackportError } from '#shared/errors.ts';
import type { Log } from '#shared/log.ts';
import {
  commentFor,
  type DeletionLabels,
  failLead,
  finishAbsent,
  finishLead,
  noteRemains,
  planFor,
  withoutOwnComment,
} from './issue-edit.ts';
import { REFUSALS_BELIEVED, writeFields } from './lead-fields.ts';
import type { Effect, LeadProgress, Todo } from '../../receipts/event-progress.ts';
import type { EditableIssue, IssueEditor, TrackerRefusal } from './issue-editor.ts';
import type { Pacer, WriteRefusals } from '../may-write.ts';
import type { NoTurn, OwnComment } from '../held-leads.ts';

const ASK_LIST_AGAIN_MS = MINUTE;

/** The tracker, as leads are written to it. */
export type LeadWriter = {
  editor: IssueEditor;
  labels: DeletionLabels;
  pacer: Pick<Pacer, 'noteWrite'>;
  refusals: Pick<WriteRefusals, 'noteSuccess'>;
  /**
   * True when the tracker's list shows the issue; undefined while that is not known. `DirectoryFiller`
   * has it.
   * @throws {tracker-failed} @throws {tracker-unavailable} @throws {store-unavailable}
   */
  isListed(number: number): Promise<boolean | undefined>;
  /** From the first look at an issue that is not found to the next ones. Then, unless it is listed, it is gone. */
  missingLooksMs: readonly number[];
  /** For so long a comment may be there and not be shown. */
  replicaLagMs: number;
  clock: Pick<Clock, 'now'>;
  log: Log;
};

/** One lead of one event. */
export type LeadTask = Todo & {
  receiptId: string;
  lead: LeadProgress;
  /** Failures of this try are final. */
  isLastTry: boolean;
  /**
   * Waits for the turn to write, and makes sure that the event still has the lead: undefined when that is so. To be
   * called before what a write depends on is read: people go on with the issue while it waits.
   * @throws what `LeasedLeads.turn` throws, which ends the work on the event: `act-on-event.ts` says how
   */
  turn: () => Promise<NoTurn | undefined>;
  /** Keeps what is known of the lead. @throws when the event is not this worker's any more */
  keep: (lead: LeadProgress) => Promise<void>;
  ownComment: OwnComment;
};

/** Reason that a lead stays open for now. */
export type Delay =
  | Extract<TrackerRefusal, { kind: 'transient' | 'limited' | 'paused' | 'forbidden' }>
  /** Not found: to be looked for again at `retryAt` (ms since the Unix epoch). */
  | { kind: 'missing'; retryAt: number }
  | Extract<NoTurn, { kind: 'blocked' }>;

/** Without a lead: the event does not hold it any more. */
type LeadResult = { lead?: LeadProgress; delay?: Delay };

/** The issue as it is at the moment when it may be written. */
type FoundIssue = { issue: EditableIssue; lead: LeadProgress };

/**
 * Does what is still to be done to one issue: deletion, else one write for relabel, close and
 * redact, or for a rule, then its typed fields, then the comment. Every step looks first whether it is already done, so that a crash at
 * any point costs nothing but a repeat.
 */
export async function actOnLead(writer: LeadWriter, task: LeadTask): Promise<LeadResult> {
  let found = await readOnTurn(writer, task, task.lead);
  if ('issue' in found && task.actions.includes('delete'))
    found = await tryRemoval(writer, task, found);
  if ('issue' in found) found = await editIssue(writer, task, found);
  if (!('issue' in found)) return found;
  const { issue } = found;
  let lead = noteRemains(task, found.lead, issue);
  const fields = await writeFields(writer, { ...task, lead }, issue);
  ({ lead } = fields);
  if (fields.refusal) return resultOf(writer, { ...task, lead }, transientIfGone(fields.refusal));
  const comment = commentFor(task, task.receiptId);
  if (comment && !lead.isCommented) {
    const commented = await postComment(writer, { ...task, lead }, comment);
    if (typeof commented === 'object') return resultOf(writer, { ...task, lead }, commented);
    if (commented === 'found-alone') lead = withoutOwnComment(lead, issue);
    lead = { ...lead, isCommented: true };
  }
  const revisions = await countRevisions(writer, task, issue);
  return { lead: finishLead({ ...task, lead }, revisions) };
}

/** An edit leaves the old text in the issue's history, where only a person can take it out. */
async function countRevisions(
  { editor, log }: LeadWriter,
  { actions, effect }: LeadTask,
  { number, nodeId, isTouched }: EditableIssue,
): Promise<number | undefined> {
  const isRedacted = actions.includes('redact');
  if (effect || !(isRedacted || isTouched === true)) return 0;
  const revisions = await editor.countRevisions(nodeId);
  if (isRedacted) log.info({ issue: number, revisions }, 'a redacted lead keeps its edit history');
  return revisions;
}

async function readOnTurn(
  writer: LeadWriter,
  task: LeadTask,
  lead: LeadProgress,
): Promise<FoundIssue | LeadResult> {
  const read = (await task.turn()) ?? (await writer.editor.read(lead.number));
  if (read.kind === 'pull-request') return { lead: failLead(lead, read.kind) };
  if (read.kind !== 'issue') return resultOf(writer, { ...task, lead }, read);
  const { missingSince: _, ...found } = lead;
  return { issue: read.issue, lead: noteRemains(task, found, read.issue) };
}

/** An issue is left where the tracker does not allow its removal: as it is when its turn has come again. */
async function tryRemoval(
  writer: LeadWriter,
  task: LeadTask,
  found: FoundIssue,
): Promise<FoundIssue | LeadResult> {
  const { issue, lead } = found;
  if (lead.removal === 'impossible' || !writer.editor.canRemove()) return found;
  const removed = await removeIssue(writer, { ...task, lead }, issue);
  if (removed.delay || removed.lead?.state !== 'open') return removed;
  return readOnTurn(writer, task, removed.lead);
}

/** Open again means that the tracker does not allow it, and that the other actions are to follow. */
async function removeIssue(
  writer: LeadWriter,
  task: LeadTask,
  issue: EditableIssue,
): Promise<LeadResult> {
  // Noted before the call: when the response is lost, an absent issue counts as deleted by us.
  const tried: LeadProgress = { ...task.lead, removal: 'tried' };
  const noTurn = await task.turn();
  if (noTurn) return resultOf(writer, task, noTurn);
  await task.keep(tried);
  writer.pacer.noteWrite();
  const removed = await writer.editor.remove(issue.nodeId);
  if (removed.kind === 'impossible') return removalRefused(task, removed);
  if (removed.kind === 'transient' && task.isLastTry) return removalRefused(task);
  if (removed.kind !== 'done') return resultOf(writer, { ...task, lead: tried }, removed);
  const lead: LeadProgress = { ...task.lead, removal: 'removed' };
  const after = await writer.editor.read(issue.number);
  if (after.kind === 'issue' || after.kind === 'pull-request')
    return { lead, delay: { kind: 'transient', code: 'not-deleted' } };
  return resultOf(writer, { ...task, lead }, after);
}

/** Believed at the last try, too: better the other actions than none. */
function removalRefused(
  { lead, isLastTry }: LeadTask,
  { isCertain } = { isCertain: false },
): LeadResult {
  const removalRefusals = (lead.removalRefusals ?? 0) + 1;
  if (isCertain || isLastTry || removalRefusals >= REFUSALS_BELIEVED)
    return { lead: { ...lead, removal: 'impossible' } };
  return {
    lead: { ...lead, removalRefusals },
    delay: { kind: 'transient', code: 'delete-refused' },
  };
}

/**
 * The issue with the fields that it has after the write: people go on with them. A reason for closing that the tracker
 * refuses must not keep the lead open: it is closed without one when its turn has come again.
 */
async function editIssue(
  writer: LeadWriter,
  task: LeadTask,
  found: FoundIssue,
  hasReason = true,
): Promise<FoundIssue | LeadResult> {
  const { editor, labels, pacer, refusals } = writer;
  const { issue, lead } = found;
  const edit = planFor(task, issue, labels);
  if (!edit) return found;
  if (edit.close && !hasReason) edit.close = 'without-reason';
  pacer.noteWrite();
  const edited = await editor.edit(issue.number, edit);
  if (edited.kind === 'reason-refused') {
    const again = await readOnTurn(writer, task, lead);
    return 'issue' in again ? editIssue(writer, task, again, false) : again;
  }
  if (edited.kind !== 'done') return resultOf(writer, { ...task, lead }, transientIfGone(edited));
  const left = planFor(task, edited.issue, labels);
  if (!left) {
    refusals.noteSuccess();
    const { fieldValues = issue.fieldValues } = edited.issue;
    return { issue: { ...issue, ...edited.issue, fieldValues, isTouched: issue.isTouched }, lead };
  }
  if (!left.labels) return { lead, delay: { kind: 'transient', code: 'not-applied' } };
  const writing = await editor.checkWriting();
  const isPaused = writing.kind === 'paused';
  return { lead, delay: isPaused ? writing : { kind: 'transient', code: 'labels-dropped' } };
}

/**
 * The marker is looked up first: the response to an earlier try may have been lost. That it is not found says nothing
 * while replicas may lag behind that try, nor whether what another replica counts is our own. The turn is asked for
 * again behind it: while an instance that froze was looking, another one may have taken over and written the comment.
 */
async function postComment(
  { editor, pacer, refusals, clock, replicaLagMs }: LeadWriter,
  { lead, turn, ownComment }: LeadTask,
  { marker, text }: NonNullable<Effect['comment']>,
): Promise<TrackerRefusal | NoTurn | 'found-alone' | 'posted'> {
  let noTurn = await turn();
  if (noTurn) return noTurn;
  const lookedAt = clock.now();
  const found = await editor.findComment(lead.number, marker);
  if (found.kind === 'found') return found.isAlone ? 'found-alone' : 'posted';
  if (found.kind !== 'none') return transientIfGone(found);
  const before = await ownComment.read();
  if (before && Math.abs(lookedAt - before.triedAt) < replicaLagMs)
    return { kind: 'blocked', retryAt: before.triedAt + replicaLagMs };
  if (before?.isWritten) return 'posted'; // somebody has taken it away since
  noTurn = await turn();
  if (noTurn) return noTurn;
  await ownComment.noteTry(clock.now());
  pacer.noteWrite();
  const posted = await editor.comment(lead.number, text);
  if (posted.kind !== 'done') return transientIfGone(posted);
  await ownComment.noteWritten();
  refusals.noteSuccess();
  return 'posted';
}

/** The issue was read a moment ago: whether it is gone since then is for the next read to say. */
function transientIfGone(refusal: TrackerRefusal | NoTurn): TrackerRefusal | NoTurn {
  return refusal.kind === 'gone' ? { kind: 'transient', code: 'not-found' } : refusal;
}

async function resultOf(
  writer: LeadWriter,
  task: LeadTask,
  refusal: TrackerRefusal | NoTurn,
): Promise<LeadResult> {
  const { lead } = task;
  switch (refusal.kind) {
    case 'gone':
      return resultOfAbsence(writer, task, refusal);
    case 'transferred':
      return { lead: failLead(lead, 'transferred') };
    case 'invalid':
      return { lead: failLead(lead, refusal.code) };
    case 'forbidden':
    case 'transient':
    case 'limited':
    case 'paused':
    case 'blocked':
      return { lead, delay: refusal };
    case 'not-held':
      return {};
  }
}

/**
 * A deleted issue says so, and the repository was well when it did. One that is only not found may
 * be so new, or its replica so far behind, that it is looked for again for ten minutes, and at last
 * in the list.
 */
async function resultOfAbsence(
  writer: LeadWriter,
  { actions, lead }: LeadTask,
  { isDeleted }: { isDeleted: boolean },
): Promise<LeadResult> {
  if (isDeleted || lead.removal === 'removed')
    return { lead: finishAbsent(lead, actions, isDeleted) };
  const now = writer.clock.now();
  const missingSince = Math.min(now, lead.missingSince ?? now);
  const missing: LeadProgress = { ...lead, missingSince };
  const next = writer.missingLooksMs.find((ms) => missingSince + ms > now);
  if (next !== undefined)
    return { lead: missing, delay: { kind: 'missing', retryAt: missingSince + next } };
  const listed = await isListed(writer, lead.number);
  if (listed === undefined)
    return { lead: missing, delay: { kind: 'missing', retryAt: now + ASK_LIST_AGAIN_MS } };
  if (listed) return { lead: missing, delay: { kind: 'transient', code: 'not-found' } };
  return { lead: finishAbsent(lead, actions, isDeleted) };
}

/** Undefined also while the tracker fails. */
async function isListed(writer: LeadWriter, number: number): Promise<boolean | undefined> {
  try {
    return await writer.isListed(number);
  } catch (error) {
    if (!isTrackportError(error) || isTrackportError(error, 'store-unavailable')) throw error;
    return undefined;
  }
}
