import { toRfc3339 } from '#shared/clock.ts';

import { readForm, type FormLayout } from './issue-body.ts';
import type { Contact, Lead } from './lead-reader.ts';
import type { Issue } from './lead-tracker.ts';
import { httpUrlOf, splitMetadata, type SplitBody } from './metadata-block.ts';

/** What makes an issue a lead, and where its fields come from. */
export type LeadRules = {
  approvedLabel: string;
  priorityLabelPrefix: string;
  form: FormLayout;
  /** Logins whose metadata blocks count, in any case. */
  portalAuthors: readonly string[];
};

/** What a body says about a person and a portal run. Personal data: never logged, never stored. */
export type BodyFacts = {
  contact: Contact;
  correlationId?: string;
  portalRunUrl?: string;
  externalIds: Readonly<Record<string, string>>;
};

const contactFields = [
  'firstName',
  'email',
  'company',
  'interest',
  'message',
  'sourcePage',
] as const;

/** Label names compare in this form: GitHub treats names that differ only in case as one. */
export function foldLabel(name: string): string {
  return name.trim().toLowerCase();
}

/** Folded, each once, in one fixed order. */
export function foldLabels(names: readonly string[]): string[] {
  return [...new Set(names.map(foldLabel))].sort();
}

/** Folded names by the array they come from, which never changes: reads ask again and again. */
const foldedSets = new WeakMap<readonly string[], ReadonlySet<string>>();

/** True when the issue carries every one of the folded names. */
export function carriesAll(
  { labels }: { labels: readonly string[] },
  folded: readonly string[],
): boolean {
  if (folded.length === 0) return true;
  let own = foldedSets.get(labels);
  if (!own) {
    own = new Set(labels.map(foldLabel));
    foldedSets.set(labels, own);
  }
  for (const name of folded) if (!own.has(name)) return false;
  return true;
}

/** An approved issue that is no pull request. */
export function isApproved(issue: Issue, rules: LeadRules): boolean {
  return !issue.isPullRequest && carriesAll(issue, [foldLabel(rules.approvedLabel)]);
}

/** Reads a body by the form's layout and, from a portal's hand, the metadata block. */
export function readIssueBody(
  issue: Pick<Issue, 'body' | 'author'>,
  rules: Pick<LeadRules, 'form' | 'portalAuthors'>,
): BodyFacts {
  const { text, metadata }: SplitBody = isPortalAuthor(issue.author, rules.portalAuthors)
    ? splitMetadata(issue.body)
    : { text: issue.body };
  const values = readForm(text, rules.form);
  const correlationId = metadata?.correlationId ?? values['correlationId'];
  const portalRunUrl = metadata?.portalRunUrl ?? httpUrlOf(values['portalRunUrl']);
  return {
    contact: Object.fromEntries(
      contactFields.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])),
    ),
    ...(correlationId !== undefined && { correlationId }),
    ...(portalRunUrl !== undefined && { portalRunUrl }),
    externalIds: metadata?.externalIds ?? {},
  };
}

function isPortalAuthor(author: string | undefined, portalAuthors: readonly string[]): boolean {
  if (author === undefined) return false;
  const folded = author.toLowerCase();
  return portalAuthors.some((login) => login.toLowerCase() === folded);
}

/** The lead that consumers see. Fields without a value are omitted. */
export function toLead(issue: Issue, rules: LeadRules): Lead {
  const { contact, correlationId, portalRunUrl } = readIssueBody(issue, rules);
  const priority = priorityOf(issue.labels, rules.priorityLabelPrefix);
  const assignee = issue.assignees[0];
  return {
    id: String(issue.number),
    title: issue.title,
    state: issue.state,
    ...(priority !== undefined && { priority }),
    ...(assignee !== undefined && { assignee }),
    labels: issue.labels,
    createdAt: toRfc3339(issue.createdAt),
    updatedAt: toRfc3339(issue.updatedAt),
    contact,
    connect: {
      ...(correlationId !== undefined && { correlationId }),
      ...(portalRunUrl !== undefined && { portalRunUrl }),
    },
  };
}

function priorityOf(labels: readonly string[], prefix: string): string | undefined {
  const folded = prefix.toLowerCase();
  const label = labels.find((name) => name.toLowerCase().startsWith(folded));
  const priority = label?.slice(prefix.length).trim().toLowerCase();
  return priority === '' ? undefined : priority;
}
