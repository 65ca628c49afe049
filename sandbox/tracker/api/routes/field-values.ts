import { emptyResponse, jsonResponse, notFound, type TrackerResponse } from '../response.ts';
import { editIssue } from '../../world/change-issues.ts';
import { fieldValueDocument } from '../documents/attributes.ts';
import { fieldsIn } from '../field-input.ts';
import { issueOf, issueTargetOf } from './issues.ts';
import type { Route, RouteContext } from '../route.ts';

const PATTERN = 'issues/:number/issue-field-values';

/** Whoever may not push is refused with 403, where a PATCH of the issue drops the values in silence. */
export const fieldValueRoutes: readonly Route[] = [
  { method: 'GET', pattern: PATTERN, needs: 'read', handle: listValues },
  { method: 'POST', pattern: PATTERN, needs: 'write', handle: (context) => write(context, 'add') },
  { method: 'PUT', pattern: PATTERN, needs: 'write', handle: (context) => write(context, 'set') },
  { method: 'DELETE', pattern: `${PATTERN}/:field`, needs: 'write', handle: clearValue },
];

function listValues({ world, ...context }: RouteContext): TrackerResponse {
  const { fieldValues } = issueOf({ world, ...context });
  return jsonResponse(fieldValues.map((value) => fieldValueDocument(world, value)));
}

/** Without any value all are cleared, however it is asked for. */
function write(context: RouteContext, how: 'add' | 'set'): TrackerResponse {
  const { world, body } = context;
  const target = issueTargetOf(context);
  const given = fieldsIn(world, body) ?? {};
  const isAll = how === 'set' || Object.keys(given).length === 0;
  const cleared = isAll ? target.issue.fieldValues.map(({ field }) => [field.name, null]) : [];
  const fields = { ...(Object.fromEntries(cleared) as Record<string, null>), ...given };
  const { fieldValues } = editIssue(world, target, { fields });
  return jsonResponse(fieldValues.map((value) => fieldValueDocument(world, value)));
}

function clearValue(context: RouteContext): TrackerResponse {
  const target = issueTargetOf(context);
  const { field } =
    target.issue.fieldValues.find(({ field }) => String(field.id) === context.params['field']) ??
    {};
  if (!field) throw notFound();
  editIssue(context.world, target, { fields: { [field.name]: null } });
  return emptyResponse();
}
