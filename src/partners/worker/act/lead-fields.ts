import { fieldsToClear, fieldsToSet } from './issue-edit.ts';
import type { EditableIssue, IssueEditor, TrackerRefusal } from './issue-editor.ts';
import type { NoTurn } from '../held-leads.ts';
import type { Pacer, WriteRefusals } from '../may-write.ts';
import type { Effect, LeadProgress, Todo } from '../../receipts/event-progress.ts';

/** A refusal that may pass is believed when it came so often: what is given up stays in the issue. */
export const REFUSALS_BELIEVED = 3;

/** The tracker, as typed fields are written to it. */
type FieldWriter = {
  editor: Pick<IssueEditor, 'clearField' | 'setFields'>;
  pacer: Pick<Pacer, 'noteWrite'>;
  refusals: Pick<WriteRefusals, 'noteSuccess'>;
};

/** `turn` and `isLastTry` as in `LeadTask`. */
type FieldTask = Todo & {
  lead: LeadProgress;
  isLastTry: boolean;
  turn: () => Promise<NoTurn | undefined>;
};

type WrittenFields = { lead: LeadProgress; refusal?: TrackerRefusal | NoTurn };

/** Clears or sets an issue's typed fields, for a deletion or a rule. */
export function writeFields(
  writer: FieldWriter,
  task: FieldTask,
  issue: EditableIssue,
): Promise<WrittenFields> {
  const { effect } = task;
  return effect ? setFields(writer, { ...task, effect }, issue) : clearFields(writer, task, issue);
}

/**
 * Takes away what `redact` leaves in the issue's typed fields, one after the other. Whoever may edit an issue may not
 * therefore write its fields: where that is refused again and again the rest is done, and the lead says so.
 */
async function clearFields(
  { editor, pacer, refusals }: FieldWriter,
  task: FieldTask,
  issue: EditableIssue,
): Promise<WrittenFields> {
  const { lead } = task;
  if (lead.fieldsRemain) return { lead };
  for (const { id } of fieldsToClear(issue, task.actions)) {
    const noTurn = await task.turn();
    if (noTurn) return { lead, refusal: noTurn };
    pacer.noteWrite();
    const cleared = await editor.clearField(issue.number, id);
    if (cleared.kind === 'forbidden') return clearingRefused(task);
    if (cleared.kind !== 'done') return { lead, refusal: cleared };
    refusals.noteSuccess();
  }
  const cleared = task.actions.includes('redact') && lead.remains;
  return { lead: cleared ? { ...lead, remains: cleared.filter((one) => one !== 'fields') } : lead };
}

/** Gives the issue's typed fields what a rule wants of them, all by one call. */
async function setFields(
  { editor, pacer, refusals }: FieldWriter,
  { effect, lead, turn }: FieldTask & { effect: Effect },
  issue: EditableIssue,
): Promise<WrittenFields> {
  const wanted = fieldsToSet(issue, effect);
  if (wanted.length === 0) return { lead };
  const noTurn = await turn();
  if (noTurn) return { lead, refusal: noTurn };
  pacer.noteWrite();
  const set = await editor.setFields(issue.number, wanted, issue.fieldValues ?? []);
  if (set.kind === 'forbidden')
    return { lead, refusal: { kind: 'transient', code: 'fields-refused' } };
  if (set.kind !== 'done') return { lead, refusal: set };
  const left = fieldsToSet({ ...issue, fieldValues: set.fieldValues }, effect);
  if (left.length > 0) return { lead, refusal: { kind: 'transient', code: 'not-applied' } };
  refusals.noteSuccess();
  return { lead };
}

/** Not the issue's own, so that it pauses nothing: what else there is to do can be done. */
function clearingRefused({ lead, isLastTry }: FieldTask): WrittenFields {
  const fieldRefusals = (lead.fieldRefusals ?? 0) + 1;
  if (isLastTry || fieldRefusals >= REFUSALS_BELIEVED)
    return { lead: { ...lead, fieldsRemain: true } };
  return {
    lead: { ...lead, fieldRefusals },
    refusal: { kind: 'transient', code: 'fields-refused' },
  };
}
