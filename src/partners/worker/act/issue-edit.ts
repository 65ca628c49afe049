/** Edits of an issue by a deletion or a rule: what is still to be written, and what is left of a person then. */
import type { FieldValue } from '#leads/lead-tracker.ts';
import { foldLabels, foldLabel } from '#shared/text/labels.ts';
import { toRfc3339 } from '#shared/clock.ts';
import { occurredAt, type PartnerEvent } from '../../event.ts';
import type { Action, EventRule } from '../../partner.ts';
import {
  type Erasure,
  erasures,
  type EventErrorCode,
  type Remainder,
  remainders,
} from '../../receipts/receipt.ts';
import type { Effect, FieldSetting, LeadProgress, Todo } from '../../receipts/event-progress.ts';

/** Left by `redact` in place of a lead's content. */
export const REDACTED_TITLE = 'Deleted lead';
export const REDACTED_BODY = 'The content of this lead was deleted at the wish of a partner.';

/** Parts of an issue that the actions look at. */
export type IssueContent = {
  title: string;
  body: string;
  state: 'open' | 'closed';
  labels: readonly string[];
  /** Logins. */
  assignees: readonly string[];
  /** Undefined: the tracker has no typed fields. */
  fieldValues?: readonly FieldValue[];
};

/** One write. Only what is there is changed. */
export type IssueEdit = {
  title?: string;
  body?: string;
  /** All the labels that the issue is to have. */
  labels?: readonly string[];
  /** All the logins that are to be assigned. */
  assignees?: readonly string[];
  /** The reason, where the tracker takes one. */
  close?: 'completed' | 'not_planned' | 'without-reason';
  reopen?: true;
};

export type DeletionLabels = { approved: string; deleted: string };

/** Plans the edit for relabel, close and redact; undefined when all is already so. */
export function planEdit(
  issue: IssueContent,
  actions: readonly Action[],
  labels: DeletionLabels,
): IssueEdit | undefined {
  const edit: IssueEdit = {};
  if (actions.includes('redact')) {
    if (issue.title !== REDACTED_TITLE) edit.title = REDACTED_TITLE;
    if (issue.body.trim() !== REDACTED_BODY) edit.body = REDACTED_BODY;
  }
  if (actions.includes('relabel') && !isRelabelled(issue, labels))
    edit.labels = [
      ...withoutLabel(withoutLabel(issue.labels, labels.approved), labels.deleted),
      labels.deleted,
    ];
  if (actions.includes('close') && issue.state === 'open') edit.close = 'not_planned';
  return Object.keys(edit).length === 0 ? undefined : edit;
}

function isRelabelled(issue: IssueContent, labels: DeletionLabels): boolean {
  const own = new Set(issue.labels.map(foldLabel));
  return own.has(foldLabel(labels.deleted)) && !own.has(foldLabel(labels.approved));
}

function withoutLabel(names: readonly string[], unwanted: string): string[] {
  return names.filter((name) => foldLabel(name) !== foldLabel(unwanted));
}

/**
 * Fields that `redact` has still to clear: what somebody typed may be about the person, a chosen option is one of the
 * organization's. Of a kind that is new nobody knows.
 */
export function fieldsToClear(
  { fieldValues = [] }: IssueContent,
  actions: readonly Action[],
): readonly FieldValue[] {
  if (!actions.includes('redact')) return [];
  return fieldValues.filter(isTyped);
}

/** Somebody typed it, or of its kind nobody knows who did. */
const isTyped = ({ kind }: FieldValue): boolean => !kind.endsWith('_select');

/** Parts of an issue in which data of a person is seen; `ownComments` are no person's. */
function remaindersIn(
  issue: IssueContent & { comments?: number | undefined; subIssues?: number | undefined },
  ownComments = 0,
): Remainder[] {
  const { title, body, comments = 0, subIssues = 0, fieldValues = [] } = issue;
  const isRedacted = title === REDACTED_TITLE && body.trim() === REDACTED_BODY;
  const held: Partial<Record<Remainder, boolean>> = {
    text: !isRedacted,
    history: isRedacted, // of one that was edited otherwise, too: the editor counts those
    comments: comments > ownComments,
    fields: fieldValues.some(isTyped),
    'sub-issues': subIssues > 0,
  };
  return remainders.filter((one) => held[one]);
}

/** Erasure of all leads of one event: no better than the worst of them. */
export function leastErasure(ofLeads: readonly (Erasure | undefined)[]): Erasure | undefined {
  return erasures.findLast((erasure) => ofLeads.includes(erasure));
}

/** The marker in a comment by which a later try knows that it was posted. */
export function commentMarker(id: string): string {
  return `<!-- trackport receipt ${id} -->`;
}

/** A comment without personal data. */
export function commentText(receiptId: string): string {
  return `This lead was deleted at the wish of a partner. Receipt: ${receiptId}\n\n${commentMarker(receiptId)}`;
}

/** The event whose rule it is, as its receipt knows it. */
type EventOfRule = {
  partnerId: string;
  receiptId: string;
  /** In the delivery, from 0. */
  position: number;
  /** Milliseconds since the Unix epoch. */
  receivedAt: number;
};

/** Effect of the rule for one event. */
export function effectOf(rule: EventRule, event: PartnerEvent, of: EventOfRule): Effect {
  const { addLabels = [], removeLabels = [], assign = [], close, reopen, comment } = rule;
  const { setFields } = rule;
  const state = close ? 'closed' : 'open';
  return {
    addLabels: [...addLabels],
    removeLabels: [...removeLabels],
    assign: [assign].flat(),
    ...((close || reopen) && { state }),
    ...(setFields && {
      setFields: Object.entries(setFields).map(([name, value]) => ({ name, value })),
    }),
    ...(comment !== undefined && { comment: commentOf(comment, event, of) }),
  };
}

/** The marker is one of this event alone: another one of its batch may write to the same issue. */
function commentOf(template: string, event: PartnerEvent, of: EventOfRule): Effect['comment'] {
  const { partnerId: partner, receiptId, position, receivedAt } = of;
  const values: Readonly<Record<string, string>> = {
    partner,
    type: typeShown(event),
    receiptId,
    occurredAt: toRfc3339(occurredAt(event) ?? receivedAt),
  };
  const text = template.replace(/\{(\w+)\}/g, (placeholder, name) => values[name] ?? placeholder);
  const marker = commentMarker(`${receiptId}/${position}`);
  return { marker, text: `${text}\n\n${marker}` };
}

const SHOWN_TYPE = /^[\w.:/-]{1,100}$/;

/** Nothing that could mention somebody, format the comment or be about a person. */
function typeShown({ type }: PartnerEvent): string {
  return type.kind === 'named' && SHOWN_TYPE.test(type.name) ? type.name : 'event';
}

/** Plans the edit for a rule; undefined when all is already so. The rest of the issue stays. */
export function planEffect(issue: IssueContent, effect: Effect): IssueEdit | undefined {
  const edit: IssueEdit = {};
  const taken = new Set(effect.removeLabels.map(foldLabel));
  const own = new Set(issue.labels.map(foldLabel));
  const added = effect.addLabels.filter((name) => !own.has(foldLabel(name)));
  const left = issue.labels.filter((name) => !taken.has(foldLabel(name)));
  if (added.length > 0 || left.length < issue.labels.length) edit.labels = [...left, ...added];
  const assigned = new Set(issue.assignees.map((login) => login.toLowerCase()));
  const assignees = effect.assign.filter((login) => !assigned.has(login.toLowerCase()));
  if (assignees.length > 0) edit.assignees = [...issue.assignees, ...assignees];
  if (effect.state === 'closed' && issue.state === 'open') edit.close = 'completed';
  if (effect.state === 'open' && issue.state === 'closed') edit.reopen = true;
  return Object.keys(edit).length === 0 ? undefined : edit;
}

/** Fields that a rule has still to set. Names of fields and options compare as those of labels do. */
export function fieldsToSet(
  { fieldValues = [] }: IssueContent,
  { setFields = [] }: Effect,
): readonly FieldSetting[] {
  return setFields.filter(({ name, value }) => {
    const own = fieldValues.find((field) => foldLabel(field.name) === foldLabel(name));
    return !own || comparable(own.kind, own.value) !== comparable(own.kind, value);
  });
}

function comparable(kind: string, value: FieldValue['value']): string {
  const texts = [value].flat().map(String);
  return JSON.stringify(kind.endsWith('_select') ? foldLabels(texts) : texts);
}

/** Plans the edit for a deletion or a rule; undefined when all is already so. */
export function planFor(
  { actions, effect }: Todo,
  issue: IssueContent,
  labels: DeletionLabels,
): IssueEdit | undefined {
  return effect ? planEffect(issue, effect) : planEdit(issue, actions, labels);
}

/** The comment of a deletion or a rule. */
export function commentFor({ actions, effect }: Todo, receiptId: string): Effect['comment'] {
  if (effect) return effect.comment;
  if (!actions.includes('comment')) return undefined;
  return { marker: commentMarker(receiptId), text: commentText(receiptId) };
}

/** Notes what the issue of a deleted lead holds of a person as it is now. */
export function noteRemains(
  { effect }: Todo,
  lead: LeadProgress,
  issue: Parameters<typeof remaindersIn>[0],
): LeadProgress {
  if (effect) return lead;
  const { isCommented = false } = lead;
  return { ...lead, remains: remaindersIn(issue, isCommented ? 1 : 0) };
}

/** Takes our own comment out of what is left: it was counted before it was found. */
export function withoutOwnComment(
  lead: LeadProgress,
  { comments = 0 }: { comments?: number | undefined },
): LeadProgress {
  if (comments > 1 || !lead.remains) return lead;
  return { ...lead, remains: lead.remains.filter((one) => one !== 'comments') };
}

/** `revisions`: those of its text that can still be read; undefined when that cannot be told. */
export function finishLead(
  { actions, effect, lead }: Todo & { lead: LeadProgress },
  revisions = 0,
): LeadProgress {
  if (effect) return done(lead, undefined);
  const held = new Set(lead.remains);
  if (revisions > 0) held.add('history');
  const remains = remainders.filter((one) => held.has(one));
  return done({ ...lead, remains }, erasureByActions(actions, lead));
}

function erasureByActions(
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
