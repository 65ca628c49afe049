import type { Hooks } from '../../hooks/hooks.ts';
import { configDocument, deliveryDocuments, hookDocument } from '../../hooks/hook.ts';
import { isAbleTo, isInScope } from '../callers/caller.ts';
import { numberedPage } from '../documents/links.ts';
import { pageOf, perPageOf } from '../input.ts';
import { jsonResponse, notFound, refusal, type TrackerResponse } from '../response.ts';
import type { Repository } from '../../world/model.ts';
import type { Route, RouteContext, TrackerRequest } from '../route.ts';

/** The repository's webhooks and their deliveries, for those who may administer it. */
export function hookRoutes(hooks: Hooks): readonly Route[] {
  return [
    {
      method: 'GET',
      pattern: 'hooks',
      needs: 'read',
      handle: (context) => listHooks(hooks, context),
    },
    {
      method: 'GET',
      pattern: 'hooks/:id/deliveries',
      needs: 'read',
      handle: (context) => listDeliveries(hooks, context),
    },
  ];
}

function listHooks(hooks: Hooks, context: RouteContext): TrackerResponse {
  checkRights(context);
  const { world, repository, request } = context;
  const { rows, headers } = numberedPage(
    { world, repository, path: 'hooks' },
    hooks.all.filter(({ isOfApp }) => isOfApp !== true),
    { query: request.query, page: pageOf(request.query), perPage: perPageOf(request.query) },
  );
  return jsonResponse(
    rows.map((hook) => hookDocument(world, repository, hook)),
    { headers },
  );
}

function listDeliveries(hooks: Hooks, context: RouteContext): TrackerResponse {
  checkRights(context);
  const { repository, params, request } = context;
  const hook = hooks.all.find(({ id, isOfApp }) => String(id) === params['id'] && !isOfApp);
  if (!hook) throw notFound();
  const documents = deliveryDocuments(hook, hooks.deliveries, repository);
  return jsonResponse(documents.slice(0, perPageOf(request.query)));
}

/** A user who may not administer sees no hooks at all; an App is told. */
function checkRights({ caller, repository }: RouteContext): void {
  if (isAbleTo(caller, 'admin') && isInScope(caller, repository)) return;
  if (caller.kind === 'installation') throw refusal(403, 'Resource not accessible by integration');
  throw notFound();
}

/** The App's own webhook; an App without one has a configuration without an address. */
export function appHookConfig(hooks: Hooks): TrackerResponse {
  const hook = hooks.all.find(({ isOfApp }) => isOfApp);
  return jsonResponse(hook ? configDocument(hook) : { content_type: 'json', insecure_ssl: '0' });
}

/** Deliveries of the App's webhook, latest first. */
export function appHookDeliveries(
  hooks: Hooks,
  repository: Repository,
  { query }: TrackerRequest,
): TrackerResponse {
  const hook = hooks.all.find(({ isOfApp }) => isOfApp);
  const documents = hook ? deliveryDocuments(hook, hooks.deliveries, repository) : [];
  return jsonResponse(documents.slice(0, perPageOf(query)));
}
