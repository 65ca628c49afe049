import { setImmediate } from 'node:timers/promises';
import { toRfc3339 } from '#shared/clock.ts';
import { carriesAll, foldLabel } from '#shared/text/labels.ts';
import type { Issue } from '../lead-tracker.ts';
import { isEmailLength } from './email-address.ts';
import { type FormLayout, type FormValues, readForm } from './issue-body.ts';
import type { Contact, Lead } from './lead-out.ts';
import { httpUrlOf, type Metadata, splitMetadata, withoutBlocks } from './metadata-block.ts';

/** Decides which issues are leads, and where their fields come from. */
export type LeadRules = {
  approvedLabel: string;
  /** An issue that carries it is never shown, claimed or not. Looked at anew at every use. */
  deletedLabel: string;
  priorityLabelPrefix: string;
  form: FormLayout;
  /** Logins whose metadata blocks count, in any case. */
  portalAuthors: readonly string[];
  /** Gives readers the issue's own address. Default: false. */
  url?: boolean;
  /** Typed fields of the tracker that readers get: the tracker's names by theirs. Default: none. */
  issueFields?: Readonly<Record<string, string>>;
};

/** GitHub takes 65,536 characters; a body beyond four times that is not read. */
const BODY_CHARACTERS_MAX = 262_144;

/** A person's submission of the form, and the portal's run. Personal data: never logged, never stored. */
export type Submission = Metadata & { contact: Contact };

const contactFields = [
  'firstName',
  'email',
  'company',
  'interest',
  'message',
  'sourcePage',
] as const;

/** An approved issue that is no pull request. */
export function isApproved(issue: Issue, rules: LeadRules): boolean {
  return !issue.isPullRequest && carriesAll(issue, [foldLabel(rules.approvedLabel)]);
}

/** An issue that a reader with a grant for all leads may see, claims aside. */
export function isReadable(issue: Issue, rules: LeadRules): boolean {
  return isApproved(issue, rules) && !carriesAll(issue, [foldLabel(rules.deletedLabel)]);
}

/** Reads a body by the form's layout and, when a portal wrote it, the metadata block. */
export function readIssueBody(
  issue: Pick<Issue, 'body' | 'author'>,
  rules: Pick<LeadRules, 'form' | 'portalAuthors'>,
): Submission {
  const { values, metadata } = readBody(issue, rules);
  const correlationId = metadata?.correlationId ?? values['correlationId'];
  const portalRunUrl = metadata?.portalRunUrl ?? httpUrlOf(values['portalRunUrl']);
  return {
    contact: toContact(values, rules.form),
    correlationId,
    portalRunUrl,
    externalIds: metadata?.externalIds ?? {},
  };
}

function readBody(
  { body, author }: Pick<Issue, 'body' | 'author'>,
  { form, portalAuthors }: Pick<LeadRules, 'form' | 'portalAuthors'>,
): { values: FormValues; metadata?: Metadata } {
  if (body.length > BODY_CHARACTERS_MAX) return { values: {} };
  if (!isPortalAuthor(author, portalAuthors)) return { values: readForm(body, form) };
  const { text, metadata } = splitMetadata(body, form);
  return { values: readForm(text, form, withoutBlocks), metadata };
}

function toContact(values: FormValues, form: FormLayout): Contact {
  const contact: Contact = {};
  const fields: Record<string, string> = {};
  let hasFields = false;
  for (const { name, expose } of form) {
    const value = valueOf(values, name);
    if (value === undefined) continue;
    if (isContactField(name)) contact[name] = value;
    if (expose === true) fields[name] = value;
    hasFields ||= expose === true;
  }
  return hasFields ? { ...contact, fields } : contact;
}

/** Names of fields are free, so that one may be that of a property which every object has. */
function valueOf(values: FormValues, name: string): string | undefined {
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  return name === 'email' && value !== undefined && !isEmailLength(value) ? undefined : value;
}

function isContactField(name: string): name is (typeof contactFields)[number] {
  return (contactFields as readonly string[]).includes(name);
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
  const url = rules.url === true ? httpUrlOf(issue.url) : undefined;
  return {
    id: String(issue.number),
    url,
    title: issue.title,
    state: issue.state,
    priority,
    assignee,
    labels: issue.labels,
    type: issue.type,
    fields: fieldsOf(issue, rules),
    createdAt: toRfc3339(issue.createdAt),
    updatedAt: toRfc3339(issue.updatedAt),
    contact,
    connect: { correlationId, portalRunUrl },
  };
}

/** In the order of the configuration, so that a lead looks the same whatever order the tracker has. */
function fieldsOf({ fieldValues = [] }: Issue, { issueFields = {} }: LeadRules): Lead['fields'] {
  const fields = Object.entries(issueFields).flatMap(([key, name]) => {
    const value = fieldValues.find((field) => foldLabel(field.name) === foldLabel(name))?.value;
    const isThere = typeof value === 'number' || (value !== undefined && value.length > 0);
    return isThere ? [[key, value] as const] : [];
  });
  return fields.length === 0 ? undefined : Object.fromEntries(fields);
}

/** False when readers get fields of which the tracker told nothing. */
export function tellsFields({ fieldValues }: Issue, { issueFields = {} }: LeadRules): boolean {
  return fieldValues !== undefined || Object.keys(issueFields).length === 0;
}

/** Characters of a lead's long texts, for what caches take in memory. */
export function textLength({ contact, fields = {} }: Lead): number {
  const { message = '', fields: ofForm = {} } = contact;
  const texts = [...Object.values(ofForm), ...Object.values(fields)];
  return texts.reduce<number>((sum, text) => sum + String(text).length, message.length);
}

function priorityOf(labels: readonly string[], prefix: string): string | undefined {
  const folded = prefix.toLowerCase();
  const label = labels.find((name) => name.toLowerCase().startsWith(folded));
  const priority = label?.slice(prefix.length).trim().toLowerCase();
  return priority === '' ? undefined : priority;
}

/** Others get a turn of the event loop when reading bodies has taken this long. */
const SLICE_MS = 10;

/** `map` of every issue, in order. A page of a hundred long bodies must not hold up everybody else. */
export async function mapIssues<T>(
  issues: readonly Issue[],
  map: (issue: Issue) => T,
): Promise<T[]> {
  const mapped: T[] = [];
  let sliceStart = performance.now();
  for (const issue of issues) {
    if (performance.now() - sliceStart > SLICE_MS) {
      await setImmediate();
      sliceStart = performance.now();
    }
    mapped.push(map(issue));
  }
  return mapped;
}
