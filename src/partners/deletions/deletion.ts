import { type LeadIdentity, parseLeadId } from '#leads/model/identity.ts';
import { foldLabel } from '#leads/model/labels.ts';
import { isPrivacyDeletion, type PartnerEvent } from '../event.ts';
import type { Action, Partner } from '../partner.ts';
import { type Erasure, erasures } from '../receipts/receipt.ts';
import type { KeyObject } from 'node:crypto';
import { toHashedIdentity } from '#leads/directory/lead-directory.ts';
import type { MatchName } from './match/match.ts';

/** What `redact` leaves in place of a lead's content. */
export const REDACTED_TITLE = 'Deleted lead';
export const REDACTED_BODY = 'The content of this lead was deleted at the wish of a partner.';

/** What an event knows a lead by. */
export type Name = { kind: 'lead-id'; number: number } | LeadIdentity;

/** What the event names, in the order of matching: the first that finds a lead decides. */
export function namesOf(partnerId: string, event: PartnerEvent): Name[] {
  const { leadId, correlationId, externalId, email } = event;
  const names: Name[] = [];
  const number = leadId === undefined ? undefined : parseLeadId(leadId);
  if (number !== undefined) names.push({ kind: 'lead-id', number });
  if (correlationId !== undefined) names.push({ kind: 'correlation-id', value: correlationId });
  if (externalId !== undefined) names.push({ kind: 'external-id', partnerId, value: externalId });
  if (email !== undefined) names.push({ kind: 'email', value: email });
  return names;
}

/** What the partner's deletions do, or those of a person who asks for erasure. */
export function actionsFor({ deletions }: Partner, event: PartnerEvent): readonly Action[] {
  return isPrivacyDeletion(event) ? deletions.privacy : deletions.actions;
}

/** What of an issue the actions look at. */
export type IssueContent = {
  title: string;
  body: string;
  state: 'open' | 'closed';
  labels: readonly string[];
  /** Logins. */
  assignees: readonly string[];
};

/** One write. Only what is there is changed. */
export type IssueEdit = {
  title?: string;
  body?: string;
  /** All the labels that the issue is to have. */
  labels?: readonly string[];
  /** All the logins that are to be assigned. */
  assignees?: readonly string[];
  /** The reason. */
  close?: 'completed' | 'not_planned';
  reopen?: true;
};

export type DeletionLabels = { approved: string; deleted: string };

/** What is still to be written for relabel, close and redact; undefined when all is already so. */
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

/** How completely the leads of one event were erased: no better than the worst of them. */
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

/** The names with keyed hashes in place of personal data, in the same order. */
export function toMatchNames(
  names: readonly Name[],
  directoryKey: Buffer | KeyObject,
): MatchName[] {
  return names.map((name) =>
    name.kind === 'lead-id' ? name : toHashedIdentity(directoryKey, name),
  );
}
