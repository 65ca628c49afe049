import { z } from 'zod';
import type { FieldValue, Issue } from '#leads/lead-tracker.ts';
import type { EditableIssue } from '#partners/worker/act/issue-editor.ts';
import { isLongerThan } from '#shared/text/visible.ts';

const instant = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));
const account = z.object({ login: z.string() }).nullish();
const label = z.union([z.string(), z.object({ name: z.string().nullish() })]);

/** The tracker gives an issue no more of either. What is beyond would be stored, and looked through, for each lead. */
const LISTED_MAX = 100;
/** The tracker's own names of labels have 50. */
const NAME_CHARACTERS_MAX = 255;
/** As many as a body has. */
const FIELD_CHARACTERS_MAX = 65_536;
/** Of a date, as in 2026-12-01, whatever time of day may follow. */
const DATE_CHARACTERS = 10;

/** The first of a list. What is behind them is not even looked at. */
function firstOf<Item extends z.ZodType>(item: Item) {
  return z
    .custom<readonly unknown[]>((value) => Array.isArray(value))
    .transform((values) => values.slice(0, LISTED_MAX))
    .pipe(z.array(item));
}

/** False for a name that no label, type, field or option can have: one with it is read as if it were not there. */
export function isName(name: string): boolean {
  return !isLongerThan(name, NAME_CHARACTERS_MAX);
}

const named = z.object({ name: z.string().refine(isName) });

/** @see https://docs.github.com/en/rest/issues/issue-field-values */
const wireFieldValue = z.object({
  issue_field_id: z.int(),
  issue_field_name: z.string().refine(isName).catch(''),
  data_type: z.string().refine(isName).catch(''),
  value: z.union([z.number(), z.string(), z.null()]).catch(''),
  single_select_option: named.nullish().catch(undefined),
  multi_select_options: firstOf(named.optional().catch(undefined)).nullish().catch(undefined),
});

/** Undefined for a field without a value: there is nothing to clear. */
const fieldValue = wireFieldValue.transform((wire) => {
  const { issue_field_id: id, issue_field_name: name, data_type: kind } = wire;
  const value = valueOf(wire);
  return value === null ? undefined : { id, name, kind, value };
});

export const fieldValuesSchema = firstOf(fieldValue.optional().catch(undefined)).transform(
  (values) => values.filter((value) => value !== undefined),
);

function valueOf(wire: z.infer<typeof wireFieldValue>): FieldValue['value'] | null {
  const { data_type: kind } = wire;
  if (kind === 'multi_select')
    return present((wire.multi_select_options ?? []).map((option) => option?.name));
  const value = wire.single_select_option?.name ?? wire.value;
  if (typeof value !== 'string') return value;
  if (isLongerThan(value, FIELD_CHARACTERS_MAX)) return '';
  if (kind === 'date') return value.slice(0, DATE_CHARACTERS);
  return kind === 'number' && value.trim() !== '' ? Number(value) : value;
}

/**
 * An issue of the REST API and of webhooks. Tolerates what the API is known to send: deleted accounts, labels as
 * text, missing bodies, keys that are new or gone.
 * @see https://docs.github.com/en/rest/issues/issues
 */
const wireIssue = z.object({
  number: z.int().positive(),
  html_url: z.string().nullish().catch(undefined),
  title: z.string(),
  body: z.string().nullish(),
  state: z.enum(['open', 'closed']),
  labels: firstOf(label),
  assignees: firstOf(account).nullish(),
  user: account,
  type: named.nullish().catch(undefined),
  issue_field_values: fieldValuesSchema.nullish().catch(undefined),
  created_at: instant,
  updated_at: instant,
  pull_request: z.unknown().optional(),
});

/** Reduced to what a lead needs. */
export const issueSchema = wireIssue.transform(toIssue);

function toIssue(wire: z.infer<typeof wireIssue>): Issue {
  return {
    number: wire.number,
    ...(typeof wire.html_url === 'string' && { url: wire.html_url }),
    title: wire.title,
    body: wire.body ?? '',
    state: wire.state,
    labels: present(wire.labels.map((label) => nameOf(label))),
    assignees: present((wire.assignees ?? []).map((account) => account?.login)),
    author: wire.user?.login,
    ...(wire.type && { type: wire.type.name }),
    ...(wire.issue_field_values && { fieldValues: wire.issue_field_values }),
    createdAt: wire.created_at,
    updatedAt: wire.updated_at,
    isPullRequest: wire.pull_request !== undefined && wire.pull_request !== null,
  };
}

function nameOf(label: string | { name?: string | null }): string | undefined {
  const name = typeof label === 'string' ? label : label.name;
  return name != null && isName(name) ? name : undefined;
}

function present(values: readonly (string | undefined)[]): readonly string[] {
  // A filter's result has room for sixteen more, and waits for a commit with its issue.
  return values.every(isText) ? values : values.filter(isText);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** An issue of the REST API with what the editor needs besides: its GraphQL id. */
export const editableSchema = z
  .looseObject({
    node_id: z.string().min(1),
    comments: z.int().nullish().catch(undefined),
    sub_issues_summary: z.object({ total: z.int() }).nullish().catch(undefined),
  })
  .transform((wire, context): EditableIssue & { isPullRequest: boolean } => {
    const parsed = issueSchema.safeParse(wire);
    if (!parsed.success) {
      context.addIssue({ code: 'custom', message: 'not an issue' });
      return z.NEVER;
    }
    const { number, title, body, state, labels, assignees, fieldValues, isPullRequest } =
      parsed.data;
    const nodeId = wire.node_id;
    const comments = wire.comments ?? undefined;
    const subIssues = wire.sub_issues_summary?.total;
    const isTouched = parsed.data.updatedAt > parsed.data.createdAt;
    const more = { isPullRequest, nodeId, comments, subIssues, isTouched };
    return { number, title, body, state, labels, assignees, fieldValues, ...more };
  });

export const lockSchema = z.object({ locked: z.boolean().nullish() });

export const commentsSchema = z.array(z.object({ body: z.string().nullish() }));

export const postedSchema = z.object({ id: z.number() });

const graphqlErrors = z
  .array(z.object({ type: z.string().nullish(), message: z.string().nullish() }))
  .nullish();

export type GraphqlErrors = z.infer<typeof graphqlErrors>;

export const removedSchema = z.object({
  data: z.object({ deleteIssue: z.unknown() }).partial().nullish(),
  errors: graphqlErrors,
});

export const revisionsSchema = z.object({
  data: z.object({
    node: z.object({ userContentEdits: z.object({ totalCount: z.int() }).nullish() }).nullish(),
  }),
});

/**
 * `deleteIssue` needs a repository admin and an organization that allows it.
 * @see https://docs.github.com/en/graphql/reference/mutations#deleteissue
 */
export const DELETE_ISSUE = `mutation ($issueId: ID!) {
  deleteIssue(input: { issueId: $issueId }) { clientMutationId }
}`;

/** @see https://docs.github.com/en/graphql/reference/objects#issue */
export const COUNT_REVISIONS = `query ($id: ID!) {
  node(id: $id) { ... on Issue { userContentEdits(first: 1) { totalCount } } }
}`;

/** True when the errors are of GitHub's own making and may be gone at the next try. */
export function isTransientError(errors: GraphqlErrors): boolean {
  return (errors ?? []).some(
    ({ type, message }) => !type && /something went wrong|timed? ?out/i.test(message ?? ''),
  );
}
