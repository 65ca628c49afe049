import { buildSchema } from 'graphql';

/**
 * Part of the tracker's graph that Trackport and its tests use, in the names of the real one.
 * @see https://docs.github.com/en/graphql/reference
 */
export const schema = buildSchema(`
  type Query {
    viewer: Actor!
    node(id: ID!): Node
    repository(owner: String!, name: String!): Repository
  }
  type Mutation { deleteIssue(input: DeleteIssueInput!): DeleteIssuePayload }
  input DeleteIssueInput { issueId: ID!, clientMutationId: String }
  type DeleteIssuePayload { clientMutationId: String, repository: Repository }
  interface Actor { login: String! }
  type User implements Actor { login: String! }
  type Bot implements Actor { login: String! }
  interface Node { id: ID! }
  type Repository { nameWithOwner: String!, issue(number: Int!): Issue }
  type Issue implements Node {
    id: ID!
    number: Int!
    title: String!
    state: String!
    userContentEdits(first: Int, last: Int): UserContentEditConnection
  }
  type UserContentEditConnection {
    totalCount: Int!
    nodes: [UserContentEdit!]!
    pageInfo: PageInfo!
  }
  type PageInfo { hasNextPage: Boolean! }
  type UserContentEdit { diff: String, editor: Actor, deletedAt: String, deletedBy: Actor }
`);
