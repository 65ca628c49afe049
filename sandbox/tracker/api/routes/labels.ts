import {
  emptyResponse,
  invalid,
  jsonResponse,
  notFound,
  refusal,
  type TrackerResponse,
} from '../response.ts';
import { editIssue } from '../../world/change-issues.ts';
import { createLabel, deleteLabel, editLabel } from '../../world/change-labels.ts';
import { labelDocument } from '../documents/issues.ts';
import { namesOf, pageOf, perPageOf, textOf, textOrNullOf } from '../input.ts';
import { issueOf, issueTargetOf } from './issues.ts';
import { numberedPage } from '../documents/links.ts';
import type { Label } from '../../world/model.ts';
import type { Route, RouteContext } from '../route.ts';

const NAME_CHARACTERS_MAX = 50;
const DESCRIPTION_CHARACTERS_MAX = 100;

export const labelRoutes: readonly Route[] = [
  { method: 'GET', pattern: 'labels', needs: 'read', handle: listLabels },
  { method: 'POST', pattern: 'labels', needs: 'write', handle: addLabel },
  { method: 'GET', pattern: 'labels/:name', needs: 'read', handle: readLabel },
  { method: 'PATCH', pattern: 'labels/:name', needs: 'write', handle: patchLabel },
  { method: 'DELETE', pattern: 'labels/:name', needs: 'write', handle: dropLabel },
  { method: 'GET', pattern: 'issues/:number/labels', needs: 'read', handle: labelsOfIssue },
  { method: 'POST', pattern: 'issues/:number/labels', needs: 'write', handle: putOnIssue },
  { method: 'PUT', pattern: 'issues/:number/labels', needs: 'write', handle: replaceOnIssue },
  { method: 'DELETE', pattern: 'issues/:number/labels', needs: 'write', handle: clearIssue },
  {
    method: 'DELETE',
    pattern: 'issues/:number/labels/:name',
    needs: 'write',
    handle: takeOffIssue,
  },
];

function documentsOf({ world, repository }: RouteContext, labels: readonly Label[]) {
  return labels.map((label) => labelDocument(world, repository, label));
}

function labelOf({ repository, params }: RouteContext): Label {
  const label = repository.labels.get((params['name'] ?? '').toLowerCase());
  if (label) return label;
  throw notFound();
}

function listLabels(context: RouteContext): TrackerResponse {
  const { world, repository, request } = context;
  const { rows, headers } = numberedPage(
    { world, repository, path: 'labels' },
    [...repository.labels.values()],
    { query: request.query, page: pageOf(request.query), perPage: perPageOf(request.query) },
  );
  return jsonResponse(documentsOf(context, rows), { headers });
}

function readLabel(context: RouteContext): TrackerResponse {
  return jsonResponse(labelDocument(context.world, context.repository, labelOf(context)));
}

function addLabel(context: RouteContext): TrackerResponse {
  const { world, repository, caller, body } = context;
  const name = freeName(context, textOf(body, 'name'));
  const label = createLabel(world, { repository, by: caller.account }, { name, ...looksOf(body) });
  const document = labelDocument(world, repository, label);
  return jsonResponse(document, { status: 201, headers: { location: String(document['url']) } });
}

function patchLabel(context: RouteContext): TrackerResponse {
  const { world, repository, caller, body } = context;
  const label = labelOf(context);
  const newName = textOf(body, 'new_name');
  const isSame = newName === undefined || newName.toLowerCase() === label.name.toLowerCase();
  const name = isSame ? (newName ?? label.name) : freeName(context, newName);
  const target = { repository, by: caller.account, label };
  const edited = editLabel(world, target, { name, ...looksOf(body) });
  return jsonResponse(labelDocument(world, repository, edited));
}

function dropLabel(context: RouteContext): TrackerResponse {
  const { world, repository, caller } = context;
  deleteLabel(world, { repository, by: caller.account, label: labelOf(context) });
  return emptyResponse();
}

function looksOf(body: RouteContext['body']) {
  const color = textOf(body, 'color');
  const description = textOrNullOf(body, 'description');
  if (color !== undefined && !/^[0-9a-f]{6}$/i.test(color))
    throw invalid({ resource: 'Label', field: 'color', code: 'invalid' });
  if ((description?.length ?? 0) > DESCRIPTION_CHARACTERS_MAX)
    throw invalid({ resource: 'Label', field: 'description', code: 'custom' });
  return { ...(color ? { color } : {}), ...(description === undefined ? {} : { description }) };
}

function freeName({ repository }: RouteContext, name: string | undefined): string {
  const checked = checkedName(name ?? '');
  if (!repository.labels.has(checked.toLowerCase())) return checked;
  throw invalid({ resource: 'Label', field: 'name', code: 'already_exists' });
}

function checkedName(name: string): string {
  if (name.trim() === '')
    throw invalid({ resource: 'Label', field: 'name', code: 'missing_field' });
  if (name.length <= NAME_CHARACTERS_MAX) return name;
  throw invalid({ resource: 'Label', field: 'name', code: 'invalid', value: name });
}

function labelsOfIssue(context: RouteContext): TrackerResponse {
  return jsonResponse(documentsOf(context, issueOf(context).labels));
}

function namesIn({ body }: RouteContext): string[] {
  return (namesOf(body, 'labels') ?? []).map(checkedName);
}

function relabel(context: RouteContext, labels: (had: string[]) => string[]): TrackerResponse {
  const target = issueTargetOf(context);
  const names = labels(target.issue.labels.map(({ name }) => name));
  const issue = editIssue(context.world, target, { labels: names });
  return jsonResponse(documentsOf(context, issue.labels));
}

function putOnIssue(context: RouteContext): TrackerResponse {
  const added = namesIn(context);
  return relabel(context, (had) => [...had, ...added]);
}

function replaceOnIssue(context: RouteContext): TrackerResponse {
  const names = namesIn(context);
  return relabel(context, () => names);
}

function clearIssue(context: RouteContext): TrackerResponse {
  relabel(context, () => []);
  return emptyResponse();
}

function takeOffIssue(context: RouteContext): TrackerResponse {
  const name = (context.params['name'] ?? '').toLowerCase();
  const carries = issueOf(context).labels.some((label) => label.name.toLowerCase() === name);
  if (!carries) throw refusal(404, 'Label does not exist');
  return relabel(context, (had) => had.filter((label) => label.toLowerCase() !== name));
}
