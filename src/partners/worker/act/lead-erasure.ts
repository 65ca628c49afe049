/** End of the work on one lead: what is erased, and what a deletion has left of a person on its issue. */
import type { Log } from '#shared/log.ts';
import type { Action } from '../../partner.ts';
import { type Erasure, type EventErrorCode, remainders } from '../../receipts/receipt.ts';
import type { LeadProgress, Todo } from '../work-item.ts';
import { remaindersIn } from './issue-edit.ts';
import type { EditableIssue, IssueEditor } from './issue-editor.ts';

/** Notes what the issue of a deleted lead holds of a person as it is now. */
export function noteRemains(
  { effect }: Todo,
  lead: LeadProgress,
  issue: EditableIssue,
): LeadProgress {
  if (effect) return lead;
  const { isCommented = false } = lead;
  return { ...lead, remains: remaindersIn(issue, isCommented ? 1 : 0) };
}

/** Takes our own comment out of what is left: it was counted before it was found. */
export function withoutOwnComment(
  lead: LeadProgress,
  { comments = 0 }: EditableIssue,
): LeadProgress {
  if (comments > 1 || !lead.remains) return lead;
  return { ...lead, remains: lead.remains.filter((one) => one !== 'comments') };
}

/** An edit leaves the old text in the issue's history, where only a person can take it out. */
export async function finishLead(
  { editor, log }: { editor: Pick<IssueEditor, 'countRevisions'>; log: Log },
  { actions, effect, lead }: Todo & { lead: LeadProgress },
  issue: EditableIssue,
): Promise<LeadProgress> {
  if (effect) return done(lead, undefined);
  const isRedacted = actions.includes('redact');
  const mayHaveHistory = isRedacted || issue.isTouched === true;
  const revisions = mayHaveHistory ? await editor.countRevisions(issue.nodeId) : 0;
  if (isRedacted)
    log.info({ issue: issue.number, revisions }, 'a redacted lead keeps its edit history');
  const held = new Set(lead.remains);
  if (revisions !== undefined && revisions > 0) held.add('history');
  const remains = remainders.filter((one) => held.has(one));
  return done({ ...lead, remains }, erasureOf(actions, lead));
}

function erasureOf(
  actions: readonly Action[],
  { fieldsRemain }: LeadProgress,
): Erasure | undefined {
  if (!actions.includes('redact')) return actions.includes('delete') ? 'impossible' : undefined;
  return fieldsRemain ? 'impossible' : 'incomplete-history';
}

/** Only what is known to be deleted counts as erased: a hidden issue looks the same as none. */
function erasureOfAbsent(
  { removal }: LeadProgress,
  actions: readonly Action[],
  isDeleted: boolean,
): Erasure | undefined {
  if (removal === 'tried' || removal === 'removed') return 'complete';
  const isWanted = actions.includes('delete') || actions.includes('redact');
  return isDeleted && isWanted ? 'complete' : undefined;
}

function done(lead: LeadProgress, erasure: Erasure | undefined): LeadProgress {
  return { ...lead, state: 'done', ...(erasure !== undefined && { erasure }) };
}

/** Issues below one that is deleted stay; of one that was only hidden nobody knows anything. */
export function finishAbsent(
  lead: LeadProgress,
  actions: readonly Action[],
  isDeleted: boolean,
): LeadProgress {
  const { remains = [], ...rest } = lead;
  const erasure = erasureOfAbsent(lead, actions, isDeleted);
  const left = remains.filter((one) => one === 'sub-issues');
  return { ...done(rest, erasure), ...(left.length > 0 && { remains: left }) };
}

export function failLead(lead: LeadProgress, error: EventErrorCode): LeadProgress {
  return { ...lead, state: 'failed', error };
}
