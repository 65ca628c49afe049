import { type GraphQLError, graphqlSync } from 'graphql';
import { jsonResponse, refusal, type TrackerResponse } from '../api/response.ts';
import { type Caller, isAbleTo } from '../api/callers/caller.ts';
import { decodeIntegers } from '../api/msgpack.ts';
import { deleteIssue } from '../world/depart-issues.ts';
import type { World } from '../world/model.ts';
import { repositoryNamed } from '../world/world.ts';
import { FieldFailure, toActor, toIssue, toRepository } from './objects.ts';
import { schema } from './schema.ts';

type Graph = { world: World; caller: Caller };

/** `POST /graphql`: every failure of a field, and of the query itself, is status 200 with `errors`. */
export function respondToGraphql(
  world: World,
  caller: Caller,
  { query, variables }: Readonly<Record<string, unknown>>,
): TrackerResponse {
  if (caller.kind === 'anonymous')
    throw refusal(401, 'This endpoint requires you to be authenticated.');
  const { data, errors } = graphqlSync({
    schema,
    source: typeof query === 'string' ? query : '',
    rootValue: rootOf({ world, caller }),
    variableValues: (variables ?? {}) as Record<string, unknown>,
  });
  return jsonResponse({
    ...(data !== undefined && { data }),
    ...(errors !== undefined && { errors: errors.map(toProblem) }),
  });
}

/** Over the primary limit the status of GraphQL is 200 all the same. */
export function graphqlLimitResponse(): TrackerResponse {
  return jsonResponse({ errors: [{ type: 'RATE_LIMITED', message: 'API rate limit exceeded' }] });
}

/** The tracker has `type` beside `message`, where the specification would have `extensions`. */
function toProblem({ message, path, originalError }: GraphQLError) {
  const cause = originalError instanceof FieldFailure ? originalError : undefined;
  return { ...(cause && { type: cause.type }), ...(path && { path }), message };
}

function rootOf(graph: Graph) {
  const { world, caller } = graph;
  return {
    viewer: () => toActor(caller.account),
    node: ({ id }: { id: string }) => {
      const { repository, issue } = issueByNodeId(graph, id);
      return toIssue(repository, issue);
    },
    repository: ({ owner, name }: { owner: string; name: string }) => {
      const repository = repositoryNamed(world, `${owner}/${name}`);
      if (repository && isAbleTo(caller, 'read')) return toRepository(repository);
      throw new FieldFailure(
        'NOT_FOUND',
        `Could not resolve to a Repository with the name '${owner}/${name}'.`,
      );
    },
    deleteIssue: ({ input }: { input: { issueId: string; clientMutationId?: string } }) =>
      deleteByNodeId(graph, input),
  };
}

function deleteByNodeId(
  graph: Graph,
  { issueId, clientMutationId }: { issueId: string; clientMutationId?: string },
) {
  const { repository, issue } = issueByNodeId(graph, issueId);
  const { caller, world } = graph;
  // Reported of the real one: an app cannot, whatever its permissions.
  if (!isAbleTo(caller, 'admin') || caller.kind !== 'user')
    throw new FieldFailure(
      'FORBIDDEN',
      `${caller.account.login} does not have the correct permissions to execute \`DeleteIssue\``,
    );
  deleteIssue(world, { repository, issue, by: caller.account });
  return { clientMutationId, repository: toRepository(repository) };
}

/** Takes today's ids and the older base64 of `05:Issue<id>`. */
function issueByNodeId({ world, caller }: Graph, id: string) {
  const legacy = /^\d+:Issue(\d+)$/.exec(Buffer.from(id, 'base64').toString('latin1'))?.[1];
  const [, repositoryId, issueId] = decodeIntegers(Buffer.from(id.slice(2), 'base64url')) ?? [];
  for (const repository of isAbleTo(caller, 'read') ? world.repositories.values() : []) {
    if (!legacy && (repository.id !== repositoryId || !id.startsWith('I_'))) continue;
    for (const issue of repository.issues.byNumber.values())
      if (issue.id === (legacy ? Number(legacy) : issueId) && !issue.isPullRequest)
        return { repository, issue };
  }
  throw new FieldFailure('NOT_FOUND', `Could not resolve to a node with the global id of '${id}'`);
}
