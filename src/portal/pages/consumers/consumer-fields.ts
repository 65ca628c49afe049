/** Fields of the forms about consumers: what each takes, and how it looks. */
import { z } from 'zod';
import { LIMIT_PER_MINUTE_MAX, NAME_CHARACTERS_MAX } from '#access/consumers/consumer.ts';
import {
  type Grant,
  type GrantInput,
  grantOf,
  isLabelName,
  isWorkspace,
  LABELS_MAX,
  WORKSPACE_RULE,
} from '#access/grant.ts';
import { foldLabel } from '#shared/text/labels.ts';
import { DAY } from '#shared/clock.ts';
import { sha256Hex } from '#shared/crypto/hash.ts';
import { type FieldProblem, refuse } from '#shared/errors.ts';
import {
  checks,
  type Choice,
  held,
  type HeldForm,
  input,
  problemOf,
  textArea,
} from '../../shell/forms.ts';
import { html, type Html } from '../../html.ts';
import { cut, foreign } from '../../shell/elements.ts';
import { remark } from '../../shell/card.ts';
import { count } from '../../shell/times.ts';
import type { PortalContext } from '../../context.ts';

const labels = z
  .union([z.string(), z.array(z.string())])
  .optional()
  .transform((sent) => toLabels(sent));

export const grantChoice = {
  sees: z.enum(['all', 'labels', 'nothing'], 'Choose what it sees.'),
  label: labels,
  workspace: z
    .string()
    .trim()
    .refine((text) => text === '' || isWorkspace(text), WORKSPACE_RULE)
    .default(''),
};

/** Choices as a page shows them: those of a form that came back, right or wrong; without any, all leads. */
export const typedGrantChoice = z.object({
  sees: grantChoice.sees.catch('all'),
  label: labels,
  workspace: z.string().catch(''),
});

/** Lifetimes of a new key, in days. */
export const LIFETIMES: readonly Choice[] = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: '1 year' },
  { value: '', label: 'for ever' },
];
export const LIFETIME_DEFAULT = '90';

export const lifetime = z
  .enum(
    LIFETIMES.map(({ value }) => value),
    'Choose how long the key works.',
  )
  .transform((days) => (days === '' ? undefined : Number(days) * DAY));

const LIMIT_RULE = `Calls per minute are a whole number from 1 to ${count(LIMIT_PER_MINUTE_MAX)}.`;

/** Undefined where nothing was typed. */
export const limitPerMinute = z
  .string()
  .trim()
  .regex(/^\d*$/, LIMIT_RULE)
  .transform((digits) => (digits === '' ? undefined : Number(digits)))
  .refine((limit = 1) => limit >= 1 && limit <= LIMIT_PER_MINUTE_MAX, LIMIT_RULE);

export const name = z
  .string('Give it a name.')
  .trim()
  .min(1, 'Give it a name.')
  .max(NAME_CHARACTERS_MAX, `A name has at most ${NAME_CHARACTERS_MAX} characters.`);

/**
 * The labels of a field as it was sent, each once. Boxes: none sends nothing, one a text, several a
 * list. A text area: a name on each line.
 */
function toLabels(sent: string | readonly string[] | undefined): string[] {
  const lines = [sent ?? []].flat().flatMap((text) => text.split('\n'));
  return [...new Set(lines.map((line) => line.trim()))].filter((line) => line !== '');
}

/** Grants as the use case takes them. */
export function toGrants({ sees, label, workspace }: GrantChoice): GrantInput[] {
  return [
    ...(workspace === '' ? [] : [{ action: 'catalog:read', workspace }]),
    ...(sees === 'nothing'
      ? []
      : [{ action: 'leads:read', ...(sees === 'labels' && { labels: label }) }]),
  ];
}

export type GrantChoice = {
  sees: 'all' | 'labels' | 'nothing';
  label: readonly string[];
  /** Owner of the catalog that it reads; empty: none. */
  workspace: string;
};

/** Grants in the form. */
export function toGrantChoice(grants: readonly Grant[]): GrantChoice {
  const leads = grantOf(grants, 'leads:read');
  const label = leads?.labels ?? [];
  const seesSome = label.length > 0 ? 'labels' : 'all';
  const workspace = grantOf(grants, 'catalog:read')?.workspace ?? '';
  return { sees: leads === undefined ? 'nothing' : seesSome, label, workspace };
}

/** Stands for grants in a form, so that two people do not undo each other's change. */
export function grantsDigest(grants: readonly Grant[]): string {
  return sha256Hex(JSON.stringify(grants)).slice(0, 16);
}

/** The tracker's labels that can narrow what a consumer sees; undefined while nobody can know them. */
export type KnownLabels = readonly string[] | undefined;

export async function knownLabels({ tracker }: PortalContext): Promise<KnownLabels> {
  const own = new Set(tracker.ownLabels().map(foldLabel));
  const all = await tracker.labels().catch(() => undefined);
  return all?.filter((name) => isLabelName(name) && !own.has(foldLabel(name)));
}

/** Which leads a consumer sees: all, those with labels, none; and whose catalog. */
export function grantFields(
  { sees, label, workspace }: GrantChoice,
  labels: KnownLabels,
  problems: readonly FieldProblem[],
): Html {
  return html`${checks({
    kind: 'radio',
    name: 'sees',
    label: 'Sees approved leads',
    chosen: [sees],
    error: problemOf(problems, 'sees'),
    choices: [
      { value: 'all', label: 'all of them' },
      { value: 'labels', label: 'those with labels' },
      { value: 'nothing', label: 'none' },
    ],
  })}
  ${labelFields(label, labels, problemOf(problems, 'label'))}
  ${input({
    name: 'workspace',
    label: 'Reads the catalog of the workspace',
    value: workspace,
    note: 'Empty: it reads no catalog. A workspace is what the tokens of its owners name; “default” without one.',
    error: problemOf(problems, 'workspace'),
  })}`;
}

/** Calls that a consumer may make. `own`: as it is. */
export function limitField(defaultLimit: number, form: HeldForm, own?: number): Html {
  return input({
    ...held('limitPerMinute', form, own?.toString()),
    label: 'Calls per minute',
    type: 'number',
    min: 1,
    placeholder: String(defaultLimit),
    note: `Empty: the default, ${count(defaultLimit)}. Each instance counts on its own.`,
  });
}

/** More labels than these are typed, not ticked: a page of boxes would be long, and slow to read. */
const BOXES_MAX = 30;
const BOX_CHARACTERS_MAX = 500;

function labelFields(chosen: readonly string[], labels: KnownLabels, error?: string): Html {
  const known = labels ?? [];
  const names = [...known, ...chosen];
  // Each stands twice in its box, and quotes and brackets are six characters each.
  if (names.length > BOXES_MAX || names.join('').length > BOX_CHARACTERS_MAX)
    return labelLines(chosen, known.length, error);
  const folded = new Set(known.map(foldLabel));
  const gone = chosen.filter((name) => !folded.has(foldLabel(name))).slice(0, LABELS_MAX);
  const choices = [
    ...known.map((name) => ({ value: name, label: foreign(name, 60) })),
    ...gone.map((name) => ({
      value: name,
      label: html`${foreign(name, 60)} ${labels ? '(nothing to grant any more)' : ''}`,
    })),
  ];
  if (!labels && choices.length === 0) {
    const unknown = 'The tracker cannot be asked for its labels now';
    return remark('warn', unknown, 'Try again in a minute.');
  }
  const taken = new Set(chosen.map(foldLabel));
  return checks({
    kind: 'checkbox',
    name: 'label',
    label: 'Labels that a lead must carry, all of them',
    chosen: choices.map(({ value }) => value).filter((value) => taken.has(foldLabel(value))),
    choices,
    error,
    note: 'The labels of the tracker, without those of approval and deletion. Names compare without regard to case.',
  });
}

function labelLines(chosen: readonly string[], known: number, error?: string): Html {
  return textArea({
    name: 'label',
    label: 'Labels that a lead must carry, all of them',
    value: chosen
      .slice(0, BOXES_MAX)
      .map((name) => cut(name, 60))
      .join('\n'),
    rows: 5,
    note: `One on each line. The tracker has ${count(known)} labels; only those can be granted. Names compare without regard to case.`,
    error,
  });
}

/** A label that was granted before may be gone from the tracker, and stay. @throws {validation-failed} */
export async function checkLabels(
  context: PortalContext,
  form: GrantChoice,
  before?: readonly string[],
): Promise<void> {
  const problems =
    form.sees === 'labels'
      ? labelProblems(form, await knownLabels(context), before)
      : contradiction(form, before);
  if (problems.length > 0) refuse(problems);
}

/** Unknown labels that are named at a time. */
const PROBLEMS_MAX = 5;

/**
 * Nobody who ticks labels is to give away all leads because “all of them” stayed as it was: a new form
 * has it, and that of a consumer which sees all. Where labels were granted `before`, it is a choice.
 */
function contradiction(
  { sees, label }: GrantChoice,
  before: readonly string[] = [],
): FieldProblem[] {
  if (sees !== 'all' || label.length === 0 || before.length > 0) return [];
  const detail =
    'Labels are chosen below, and “all of them” here. Choose “those with labels”, or take the labels away.';
  return [{ pointer: '#/sees', code: 'contradiction', detail }];
}

/** Problems of labels that were chosen: each must exist, as far as anybody knows. */
function labelProblems(
  { label }: GrantChoice,
  labels: KnownLabels,
  before: readonly string[] = [],
): FieldProblem[] {
  if (label.length === 0)
    return [{ pointer: '#/label', code: 'required', detail: 'Choose at least one label.' }];
  const known = new Set([...(labels ?? []), ...before].map(foldLabel));
  const unknown = new Set(label.filter((name) => !known.has(foldLabel(name))));
  return [...unknown].slice(0, PROBLEMS_MAX).map((name) => ({
    pointer: '#/label',
    code: 'unknown-label',
    detail: labels
      ? `The tracker has no label “${cut(name, 60)}” that can be granted.`
      : `The tracker cannot be asked whether it has “${cut(name, 60)}”. Try again in a minute.`,
  }));
}

/**
 * A problem of the use case as the forms have it: the labels of a grant are one field, and the portal does not offer to
 * force a name that another consumer has, as the API does.
 */
export function inWords(problem: FieldProblem): FieldProblem {
  if (problem.pointer?.startsWith('#/grants/')) return { ...problem, pointer: '#/label' };
  if (problem.code !== 'duplicate') return problem;
  return { ...problem, detail: 'Another consumer has this name. Choose another one.' };
}
