import { toRfc3339 } from '#shared/clock.ts';
import type { Answer } from '../api/answer.ts';
import { jsonAnswer, refusal } from '../api/answer.ts';
import type { Caller } from '../api/callers/caller.ts';
import { isAbleTo } from '../api/callers/caller.ts';
import { deleteIssue } from '../world/depart-issues.ts';
import { htmlUrlOf, issueNodeId, nodeId } from '../api/documents/issues.ts';
import type { GraphObject, GraphProblem, GraphValue } from './graphql-execute.ts';
import { execute, GraphError, UnknownField } from './graphql-execute.ts';
import { parseOperation } from './graphql-syntax.ts';
import type { Account, IssueRecord, Repository, Revision, World } from '../world/model.ts';
import { decodeIntegers } from '../api/msgpack.ts';
import { fullNameOf, repositoryNamed } from '../world/world.ts';

type Graph = { world: World; caller: Caller };

/** `POST /graphql`: every failure of a field is status 200 with `errors`. */
export function answerGraphql(
  world: World,
  caller: Caller,
  body: Readonly<Record<string, unknown>>,
): Answer {
  if (caller.kind === 'anonymous')
    throw refusal(401, 'This endpoint requires you to be authenticated.');
  const graph: Graph = { world, caller };
  const problems: GraphProblem[] = [];
  try {
    const variables = (body['variables'] ?? {}) as Record<string, unknown>;
    const { kind, fields } = parseOperation(queryTextOf(body), variables);
    const root = kind === 'query' ? queryOf(graph) : mutationOf(graph);
    const data = execute(root, fields, problems);
    return jsonAnswer({ data, ...(problems.length > 0 ? { errors: problems } : {}) });
  } catch (error) {
    if (error instanceof UnknownField)
      return jsonAnswer({
        errors: [{ path: [kindOf(body), ...error.path], message: error.message }],
      });
    if (error instanceof SyntaxError) return jsonAnswer({ errors: [{ message: error.message }] });
    throw error;
  }
}

/** Over the primary limit GraphQL answers 200 all the same. */
export function graphqlLimitAnswer(): Answer {
  return jsonAnswer({ errors: [{ type: 'RATE_LIMITED', message: 'API rate limit exceeded' }] });
}

function queryTextOf({ query }: Readonly<Record<string, unknown>>): string {
  return typeof query === 'string' ? query : '';
}

function kindOf(body: Readonly<Record<string, unknown>>): string {
  return queryTextOf(body).trimStart().startsWith('mutation') ? 'mutation' : 'query';
}

function queryOf(graph: Graph): GraphObject {
  return {
    type: 'Query',
    fields: {
      viewer: () => actor(graph.caller.account),
      node: ({ id }) => {
        const found = issueByNodeId(graph, String(id));
        return issueObject(graph, found.repository, found.issue);
      },
      repository: ({ owner, name }) => {
        const repository = repositoryNamed(graph.world, `${String(owner)}/${String(name)}`);
        if (repository && isAbleTo(graph.caller, 'read'))
          return repositoryObject(graph, repository);
        throw new GraphError(
          'NOT_FOUND',
          `Could not resolve to a Repository with the name '${String(owner)}/${String(name)}'.`,
        );
      },
    },
  };
}

function mutationOf(graph: Graph): GraphObject {
  return {
    type: 'Mutation',
    fields: {
      deleteIssue: ({ input }) => {
        const { issueId, clientMutationId = null } = (input ?? {}) as Record<string, string | null>;
        const { repository, issue } = issueByNodeId(graph, String(issueId));
        const { caller, world } = graph;
        // Reported of the real one: an app cannot, whatever its permissions.
        if (!isAbleTo(caller, 'admin') || caller.kind !== 'user')
          throw new GraphError(
            'FORBIDDEN',
            `${caller.account.login} does not have the correct permissions to execute \`DeleteIssue\``,
          );
        deleteIssue(world, { repository, issue, by: caller.account });
        return {
          type: 'DeleteIssuePayload',
          fields: {
            clientMutationId: () => clientMutationId,
            repository: () => repositoryObject(graph, repository),
          },
        };
      },
    },
  };
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
  throw new GraphError('NOT_FOUND', `Could not resolve to a node with the global id of '${id}'`);
}

function repositoryObject(graph: Graph, repository: Repository): GraphObject {
  return {
    type: 'Repository',
    fields: {
      id: () => nodeId('R', repository.id),
      databaseId: () => repository.id,
      name: () => repository.name,
      nameWithOwner: () => fullNameOf(repository),
      isArchived: () => repository.isArchived,
      isPrivate: () => repository.isPrivate,
      hasIssuesEnabled: () => repository.hasIssues,
      issue: ({ number }) => {
        const issue = repository.issues.byNumber.get(Number(number));
        if (issue && !issue.isPullRequest) return issueObject(graph, repository, issue);
        throw new GraphError(
          'NOT_FOUND',
          `Could not resolve to an issue or pull request with the number of ${String(number)}.`,
        );
      },
    },
  };
}

function issueObject(graph: Graph, repository: Repository, issue: IssueRecord): GraphObject {
  return {
    type: 'Issue',
    fields: {
      id: () => issueNodeId(repository, issue),
      databaseId: () => issue.id,
      number: () => issue.number,
      title: () => issue.title,
      body: () => issue.body ?? '',
      url: () => htmlUrlOf(graph.world, repository, issue),
      state: () => issue.state.toUpperCase(),
      stateReason: () => issue.stateReason?.toUpperCase() ?? null,
      createdAt: () => toRfc3339(issue.createdAt),
      updatedAt: () => toRfc3339(issue.updatedAt),
      author: () => issue.author && actor(issue.author),
      viewerCanDelete: () => isAbleTo(graph.caller, 'admin'),
      repository: () => repositoryObject(graph, repository),
      userContentEdits: (args) => editsOf(issue, args),
    },
  };
}

/** Newest first; the last is the original, kept since the first edit. */
function editsOf(
  issue: IssueRecord,
  { first, last }: Readonly<Record<string, unknown>>,
): GraphObject {
  if (first === undefined && last === undefined)
    throw new GraphError(
      'MISSING_PAGINATION_BOUNDARIES',
      'You must provide a `first` or `last` value to properly paginate the `userContentEdits` connection.',
    );
  const all = [...issue.revisions].reverse();
  const shown = first === undefined ? all.slice(-Number(last)) : all.slice(0, Number(first));
  return {
    type: 'UserContentEditConnection',
    fields: {
      totalCount: () => all.length,
      nodes: () => shown.map(editObject),
      pageInfo: () => ({
        type: 'PageInfo',
        fields: { hasNextPage: () => shown.length < all.length, endCursor: () => null },
      }),
    },
  };
}

function editObject(revision: Revision): GraphObject {
  const at = toRfc3339(revision.editedAt);
  return {
    type: 'UserContentEdit',
    fields: {
      id: () => nodeId('UCE', revision.id),
      createdAt: () => at,
      editedAt: () => at,
      updatedAt: () => at,
      diff: () => revision.text,
      editor: () => actor(revision.editor),
      deletedAt: () => (revision.deletedAt === undefined ? null : toRfc3339(revision.deletedAt)),
      deletedBy: (): GraphValue => (revision.deletedBy ? actor(revision.deletedBy) : null),
    },
  };
}

function actor(account: Account): GraphObject {
  return { type: account.kind, fields: { login: () => account.login } };
}
