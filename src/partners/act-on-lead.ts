import type { Log } from '#shared/log.ts';
import {
  commentMarker,
  commentText,
  isApplied,
  planEdit,
  type DeletionLabels,
} from './deletion.ts';
import type { LeadProgress } from './deletion-progress.ts';
import type { EditableIssue, IssueEditor, Refusal } from './issue-editor.ts';
import type { Pacer } from './pacer.ts';
import type { Action } from './partner.ts';
import type { Erasure } from './receipt.ts';

export type LeadDeps = {
  editor: IssueEditor;
  labels: DeletionLabels;
  pacer: Pacer;
  log: Log;
};

/** One lead of one event. */
export type LeadTask = {
  receiptId: string;
  actions: readonly Action[];
  lead: LeadProgress;
  /** Keeps what is known of the lead before the next step. @throws when the lease was lost */
  keep: (lead: LeadProgress) => Promise<void>;
  /** Aborted when the worker stops: nothing new is begun then. */
  signal: AbortSignal;
};

/** What keeps a lead open for now. */
export type Delay = Extract<Refusal, { kind: 'transient' | 'limited' | 'paused' }>;

export type LeadResult = { lead: LeadProgress; delay?: Delay };

/**
 * Does what is still to be done to one issue: one read, then deletion, else one write for relabel,
 * close and redact, then the comment. Every step looks first whether it is already done, so that a
 * crash at any point costs nothing but a repeat.
 */
export async function actOnLead(deps: LeadDeps, task: LeadTask): Promise<LeadResult> {
  task.signal.throwIfAborted();
  const { actions } = task;
  const read = await deps.editor.read(task.lead.number);
  if (read.kind === 'pull-request') return { lead: failed(task.lead, 'pull-request') };
  if (read.kind !== 'issue') return refused(task, task.lead, read);
  let lead: LeadProgress = { ...task.lead, isMissing: false };
  if (actions.includes('delete') && lead.removal !== 'impossible') {
    const removed = await removeIssue(deps, { ...task, lead }, read.issue);
    if (removed.delay || removed.lead.state !== 'open') return removed;
    ({ lead } = removed);
  }
  const edited = await editIssue(deps, { ...task, lead }, read.issue);
  if (edited) return refused(task, lead, edited);
  if (actions.includes('comment') && !lead.isCommented) {
    const commented = await commentOnce(deps, task);
    if (commented) return refused(task, lead, commented);
    lead = { ...lead, isCommented: true };
  }
  return { lead: done(lead, await erasureOf(deps, actions, read.issue)) };
}

/** Open again means that the tracker does not allow it, and that the other actions are to follow. */
async function removeIssue(
  deps: LeadDeps,
  task: LeadTask,
  issue: EditableIssue,
): Promise<LeadResult> {
  // Noted before the call: when the answer is lost, an absent issue counts as deleted by us.
  const tried: LeadProgress = { ...task.lead, removal: 'tried' };
  await deps.pacer.turn(task.signal);
  await task.keep(tried);
  const removed = await deps.editor.remove(issue.nodeId);
  if (removed.kind === 'impossible' && !removed.certain && !task.lead.isDoubted)
    return {
      lead: { ...task.lead, isDoubted: true },
      delay: { kind: 'transient', code: 'delete-refused' },
    };
  if (removed.kind === 'impossible') return { lead: { ...task.lead, removal: 'impossible' } };
  if (removed.kind !== 'done') return refused(task, tried, removed);
  const lead: LeadProgress = { ...task.lead, removal: 'removed' };
  const after = await deps.editor.read(issue.number);
  if (after.kind === 'issue' || after.kind === 'pull-request')
    return { lead, delay: { kind: 'transient', code: 'not-deleted' } };
  return refused(task, lead, after);
}

/** Undefined when relabel, close and redact are as they should be. */
async function editIssue(
  { editor, labels, pacer }: LeadDeps,
  { actions, keep, lead, signal }: LeadTask,
  issue: EditableIssue,
): Promise<Refusal | undefined> {
  const edit = planEdit(issue, actions, labels);
  if (!edit) return undefined;
  await pacer.turn(signal);
  await keep(lead);
  const edited = await editor.edit(issue.number, edit);
  if (edited.kind !== 'done') return edited;
  const { applied, labelsDropped } = isApplied(edited.issue, actions, labels);
  if (applied) return undefined;
  if (!labelsDropped) return { kind: 'transient', code: 'not-applied' };
  const writing = await editor.checkWriting();
  return writing.kind === 'paused' ? writing : { kind: 'transient', code: 'labels-dropped' };
}

/** The marker is looked up first: the answer to an earlier try may have been lost. */
async function commentOnce(
  { editor, pacer }: LeadDeps,
  { receiptId, lead, signal }: LeadTask,
): Promise<Refusal | undefined> {
  signal.throwIfAborted();
  const found = await editor.findComment(lead.number, commentMarker(receiptId));
  if (found.kind === 'found') return undefined;
  if (found.kind !== 'none') return found;
  await pacer.turn(signal);
  const posted = await editor.comment(lead.number, commentText(receiptId));
  return posted.kind === 'done' ? undefined : posted;
}

/** An edit leaves the old text in the issue's history, where only a person can take it out. */
async function erasureOf(
  { editor, log }: LeadDeps,
  actions: readonly Action[],
  issue: EditableIssue,
): Promise<Erasure | undefined> {
  if (!actions.includes('redact')) return actions.includes('delete') ? 'impossible' : undefined;
  const revisions = await editor.countRevisions(issue.nodeId);
  log.info({ issue: issue.number, revisions }, 'a redacted lead keeps its edit history');
  return 'incomplete-history';
}

function refused({ actions }: LeadTask, lead: LeadProgress, refusal: Refusal): LeadResult {
  switch (refusal.kind) {
    case 'gone':
      return absent(lead, actions, refusal.deleted);
    case 'transferred':
      return { lead: failed(lead, 'transferred') };
    case 'invalid':
      return { lead: failed(lead, refusal.code) };
    case 'transient':
    case 'limited':
    case 'paused':
      return { lead, delay: refusal };
  }
}

/**
 * A deleted issue says so. One that is only not found may be so new that a replica does not have it
 * yet, so that it is looked for once more before its deletion counts as done.
 */
function absent(lead: LeadProgress, actions: readonly Action[], deleted: boolean): LeadResult {
  if (deleted || lead.isMissing || lead.removal === 'removed')
    return { lead: done(lead, erasureOfAbsent(lead, actions, deleted)) };
  return { lead: { ...lead, isMissing: true }, delay: { kind: 'transient', code: 'not-found' } };
}

/** Only what is known to be deleted counts as erased: a hidden issue looks the same as none. */
function erasureOfAbsent(
  { removal }: LeadProgress,
  actions: readonly Action[],
  deleted: boolean,
): Erasure | undefined {
  if (removal === 'tried' || removal === 'removed') return 'complete';
  const isWanted = actions.includes('delete') || actions.includes('redact');
  return deleted && isWanted ? 'complete' : undefined;
}

function done(lead: LeadProgress, erasure: Erasure | undefined): LeadProgress {
  return { ...lead, state: 'done', ...(erasure !== undefined && { erasure }) };
}

function failed(lead: LeadProgress, error: string): LeadProgress {
  return { ...lead, state: 'failed', error };
}
