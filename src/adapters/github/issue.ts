import { z } from 'zod';
import type { Issue } from '#leads/lead-tracker.ts';
import type { EditableIssue } from '#partners/worker/act/issue-editor.ts';
import { isLongerThan } from '#shared/text/visible.ts';

const instant = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));
const account = z.object({ login: z.string() }).nullish();
const label = z.union([z.string(), z.object({ name: z.string().nullish() })]);

/** The tracker gives an issue no more of either. What is beyond would be stored, and looked through, for each lead. */
const LISTED_MAX = 100;
/** The tracker's own names of labels have 50. */
const LABEL_CHARACTERS_MAX = 255;

/** The first of a list. What is behind them is not even looked at. */
function firstOf<Item extends z.ZodType>(item: Item) {
  return z
    .custom<readonly unknown[]>((value) => Array.isArray(value))
    .transform((values) => values.slice(0, LISTED_MAX))
    .pipe(z.array(item));
}

/** Whether this is a name that a label can have; what has another one is read as if it had no such label. */
export function isLabelName(name: string): boolean {
  return !isLongerThan(name, LABEL_CHARACTERS_MAX);
}

/**
 * An issue of the REST API and of webhooks, reduced to what a lead needs. Tolerates what the API is
 * known to send: deleted accounts, labels as text, missing bodies, keys that are new or gone.
 * @see https://docs.github.com/en/rest/issues/issues
 */
export const issueSchema = z
  .object({
    number: z.int().positive(),
    html_url: z.string().nullish().catch(undefined),
    title: z.string(),
    body: z.string().nullish(),
    state: z.enum(['open', 'closed']),
    labels: firstOf(label),
    assignees: firstOf(account).nullish(),
    user: account,
    created_at: instant,
    updated_at: instant,
    pull_request: z.unknown().optional(),
  })
  .transform(toIssue);

type WireIssue = {
  number: number;
  html_url?: string | null;
  title: string;
  body?: string | null;
  state: 'open' | 'closed';
  labels: readonly z.infer<typeof label>[];
  assignees?: readonly z.infer<typeof account>[] | null;
  user?: z.infer<typeof account>;
  created_at: number;
  updated_at: number;
  pull_request?: unknown;
};

function toIssue(wire: WireIssue): Issue {
  return {
    number: wire.number,
    ...(typeof wire.html_url === 'string' && { url: wire.html_url }),
    title: wire.title,
    body: wire.body ?? '',
    state: wire.state,
    labels: present(wire.labels.map((label) => nameOf(label))),
    assignees: present((wire.assignees ?? []).map((account) => account?.login)),
    author: wire.user?.login,
    createdAt: wire.created_at,
    updatedAt: wire.updated_at,
    isPullRequest: wire.pull_request !== undefined && wire.pull_request !== null,
  };
}

function nameOf(label: string | { name?: string | null }): string | undefined {
  const name = typeof label === 'string' ? label : label.name;
  return name != null && isLabelName(name) ? name : undefined;
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
  .looseObject({ node_id: z.string().min(1) })
  .transform((wire, context): EditableIssue & { isPullRequest: boolean } => {
    const parsed = issueSchema.safeParse(wire);
    if (!parsed.success) {
      context.addIssue({ code: 'custom', message: 'not an issue' });
      return z.NEVER;
    }
    const { number, title, body, state, labels, assignees, isPullRequest } = parsed.data;
    const nodeId = wire.node_id;
    return { number, title, body, state, labels, assignees, isPullRequest, nodeId };
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
