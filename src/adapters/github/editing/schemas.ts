import { z } from 'zod';

import type { EditableIssue } from '#partners/deletions/act/issue-editor.ts';

import { issueSchema } from '../issue.ts';

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
