import {
  emptyResponse,
  invalid,
  jsonResponse,
  movedTo,
  notFound,
  refusal,
  type TrackerResponse,
} from '../response.ts';
import { isAbleTo } from '../callers/caller.ts';
import { createIssue, editIssue, type IssuePatch, lockIssue } from '../../world/change-issues.ts';
import { issueDocument } from '../documents/issues.ts';
import { namesOf, textOf, textOrNullOf } from '../input.ts';
import { fieldsIn } from '../field-input.ts';
import { listIssuesRoute } from './issue-list.ts';
import type { IssueRecord, StateReason } from '../../world/model.ts';
import type { Route, RouteContext } from '../route.ts';

const BODY_CHARACTERS_MAX = 65_536;
const TITLE_CHARACTERS_MAX = 256;
const REASONS_OF_CLOSED = new Set(['completed', 'not_planned', 'duplicate']);

export function issueRoutes(pageWall: number, assignable: ReadonlySet<string>): Route[] {
  const list = listIssuesRoute(pageWall);
  return [
    { method: 'GET', pattern: 'issues', needs: 'read', handle: list },
    { method: 'POST', pattern: 'issues', needs: 'edit', handle: (c) => openIssue(c, assignable) },
    { method: 'GET', pattern: 'issues/:number', needs: 'read', handle: readIssue },
    {
      method: 'PATCH',
      pattern: 'issues/:number',
      needs: 'edit',
      handle: (c) => patchIssue(c, assignable),
    },
    { method: 'PUT', pattern: 'issues/:number/lock', needs: 'write', handle: (c) => lock(c, true) },
    {
      method: 'DELETE',
      pattern: 'issues/:number/lock',
      needs: 'write',
      handle: (c) => lock(c, false),
    },
  ];
}

/** The issue that the path names. @throws Refusal 301, 307, 404 or 410 */
export function issueOf(context: RouteContext): IssueRecord {
  const { repository, request, params } = context;
  const number = /^\d{1,15}$/.test(params['number'] ?? '') ? Number(params['number']) : 0;
  const isRead = request.method === 'GET';
  const index = isRead ? repository.replica : repository.issues;
  const issue = index.byNumber.get(number);
  if (issue) return issue;
  const departure = repository.departures.get(number);
  if (!departure || departure.isHidden) throw notFound();
  if (departure.kind === 'deleted') throw refusal(410, 'This issue was deleted');
  const { repositoryId, number: moved } = departure;
  const rest = request.path.split(`/issues/${params['number']}`)[1] ?? '';
  const url = `${context.world.origin}/repositories/${repositoryId}/issues/${moved}${rest}`;
  throw movedTo(request.method, url);
}

export function issueTargetOf(context: RouteContext) {
  const { repository, caller } = context;
  return { repository, by: caller.account, issue: issueOf(context) };
}

function readIssue(context: RouteContext): TrackerResponse {
  const issue = issueOf(context);
  // Like the real one: not the time of the last change, and no use as one.
  const headers = { 'last-modified': new Date(issue.createdAt).toUTCString() };
  return jsonResponse(detailOf(context, issue), { headers });
}

function detailOf({ world, repository, apiVersion }: RouteContext, issue: IssueRecord) {
  return issueDocument(world, repository, issue, { detail: true, apiVersion });
}

function openIssue(context: RouteContext, assignable: ReadonlySet<string>): TrackerResponse {
  const { world, repository, caller, body } = context;
  const title = textOf(body, 'title');
  if (!title?.trim()) throw invalid({ resource: 'Issue', field: 'title', code: 'missing_field' });
  const patch = { ...textPatch(body), ...listPatch(context, assignable) };
  const issue = createIssue(
    world,
    { repository, by: caller.account },
    {
      title,
      ...(patch.body === undefined ? {} : { body: patch.body }),
      ...(patch.labels ? { labels: patch.labels } : {}),
      ...(patch.assignees ? { assignees: patch.assignees } : {}),
      ...(patch.type ? { type: patch.type } : {}),
      ...(patch.fields ? { fields: patch.fields } : {}),
    },
  );
  const document = detailOf(context, issue);
  return jsonResponse(document, { status: 201, headers: { location: String(document['url']) } });
}

function patchIssue(context: RouteContext, assignable: ReadonlySet<string>): TrackerResponse {
  const target = issueTargetOf(context);
  const { world, body } = context;
  const patch = {
    ...textPatch(body),
    ...listPatch(context, assignable),
    ...statePatch(body, target.issue),
  };
  const issue = editIssue(world, target, patch);
  return jsonResponse(detailOf(context, issue));
}

function textPatch(body: RouteContext['body']): IssuePatch {
  const title = textOf(body, 'title');
  const text = textOrNullOf(body, 'body');
  if (title !== undefined && title.trim() === '')
    throw invalid({ resource: 'Issue', field: 'title', code: 'missing_field' });
  if ((title?.length ?? 0) > TITLE_CHARACTERS_MAX) throw tooLong('title', TITLE_CHARACTERS_MAX);
  if ((text?.length ?? 0) > BODY_CHARACTERS_MAX) throw tooLong('body', BODY_CHARACTERS_MAX);
  return {
    ...(title === undefined ? {} : { title }),
    ...(text === undefined ? {} : { body: text }),
  };
}

function tooLong(field: string, max: number) {
  const message = `${field} is too long (maximum is ${max} characters)`;
  return invalid({ resource: 'Issue', field, code: 'custom', message });
}

/** Without push access labels, assignees, type and fields are dropped in silence, as documented. */
function listPatch(
  { body, caller, world }: RouteContext,
  assignable: ReadonlySet<string>,
): IssuePatch {
  const labels = namesOf(body, 'labels');
  const assignees = namesOf(body, 'assignees');
  const type = textOrNullOf(body, 'type');
  if (!isAbleTo(caller, 'write')) return {};
  const fields = fieldsIn(world, body);
  const refused = assignees?.find((login) => !assignable.has(login.toLowerCase()));
  if (refused !== undefined)
    throw invalid({ value: refused, resource: 'Issue', field: 'assignees', code: 'invalid' });
  return {
    ...(labels ? { labels } : {}),
    ...(assignees ? { assignees } : {}),
    ...(type === undefined ? {} : { type }),
    ...(fields ? { fields } : {}),
  };
}

function statePatch(body: RouteContext['body'], issue: IssueRecord): IssuePatch {
  const state = textOf(body, 'state');
  const reason = textOrNullOf(body, 'state_reason');
  if (state !== undefined && state !== 'open' && state !== 'closed')
    throw invalid({ value: state, resource: 'Issue', field: 'state', code: 'invalid' });
  const isPossible =
    (state ?? issue.state) === 'closed'
      ? REASONS_OF_CLOSED.has(reason ?? 'completed')
      : (reason ?? 'reopened') === 'reopened';
  if (!isPossible)
    throw invalid({ value: reason, resource: 'Issue', field: 'state_reason', code: 'invalid' });
  return {
    ...(state ? { state } : {}),
    ...(reason === undefined ? {} : { stateReason: reason as StateReason | null }),
  };
}

function lock(context: RouteContext, locked: boolean): TrackerResponse {
  lockIssue(context.world, issueTargetOf(context), locked);
  return emptyResponse();
}
