import {
  emptyResponse,
  invalid,
  jsonResponse,
  notFound,
  refusal,
  type TrackerResponse,
} from '../response.ts';
import { isAbleTo } from '../callers/caller.ts';
import {
  addComment,
  deleteComment,
  editComment,
  findComment,
} from '../../world/change-comments.ts';
import { commentDocument } from '../documents/issues.ts';
import { instantOf, pageOf, perPageOf, textOf } from '../input.ts';
import { issueOf, issueTargetOf } from './issues.ts';
import { numberedPage } from '../documents/links.ts';
import type { Comment, IssueRecord } from '../../world/model.ts';
import type { Route, RouteContext } from '../route.ts';

export const commentRoutes: readonly Route[] = [
  { method: 'GET', pattern: 'issues/:number/comments', needs: 'read', handle: listComments },
  { method: 'POST', pattern: 'issues/:number/comments', needs: 'edit', handle: postComment },
  { method: 'GET', pattern: 'issues/comments/:id', needs: 'read', handle: readComment },
  { method: 'PATCH', pattern: 'issues/comments/:id', needs: 'write', handle: patchComment },
  { method: 'DELETE', pattern: 'issues/comments/:id', needs: 'write', handle: dropComment },
];

/** Comments still have page numbers and `last`, unlike issues. */
function listComments(context: RouteContext): TrackerResponse {
  const { world, repository, request } = context;
  const issue = issueOf(context);
  const since = instantOf(request.query, 'since') ?? 0;
  const { rows, headers } = numberedPage(
    { world, repository, path: `issues/${issue.number}/comments` },
    issue.comments.filter((comment) => comment.updatedAt >= since),
    { query: request.query, page: pageOf(request.query), perPage: perPageOf(request.query) },
  );
  const documents = rows.map((comment) => commentDocument(world, repository, { issue, comment }));
  return jsonResponse(documents, { headers });
}

function postComment(context: RouteContext): TrackerResponse {
  const target = issueTargetOf(context);
  if (target.issue.locked && !isAbleTo(context.caller, 'write'))
    throw refusal(403, 'Unable to create comment because issue is locked.');
  const comment = addComment(context.world, target, bodyOf(context));
  const document = commentDocument(context.world, context.repository, { ...target, comment });
  return jsonResponse(document, { status: 201, headers: { location: String(document['url']) } });
}

function readComment(context: RouteContext): TrackerResponse {
  return jsonResponse(commentDocument(context.world, context.repository, commentOf(context)));
}

function patchComment(context: RouteContext): TrackerResponse {
  const { world, repository, caller } = context;
  const { issue, comment } = commentOf(context);
  const target = { repository, by: caller.account, issue };
  const edited = editComment(world, target, { comment, body: bodyOf(context) });
  return jsonResponse(commentDocument(world, repository, { issue, comment: edited }));
}

function dropComment(context: RouteContext): TrackerResponse {
  const { world, repository, caller } = context;
  const { issue, comment } = commentOf(context);
  deleteComment(world, { repository, by: caller.account, issue }, comment);
  return emptyResponse();
}

function bodyOf({ body }: RouteContext): string {
  const text = textOf(body, 'body');
  if (text?.trim()) return text;
  throw invalid({ resource: 'IssueComment', field: 'body', code: 'missing_field' });
}

function commentOf({ repository, params }: RouteContext): { issue: IssueRecord; comment: Comment } {
  const found = findComment(repository, Number(params['id']));
  if (found) return found;
  throw notFound();
}
