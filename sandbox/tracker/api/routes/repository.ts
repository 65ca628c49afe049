import { emptyResponse, jsonResponse, notFound, type TrackerResponse } from '../response.ts';
import { isAbleTo } from '../callers/caller.ts';
import { editRepository } from '../../world/change-repository.ts';
import { textOf } from '../input.ts';
import { fullRepositoryDocument } from '../documents/repository.ts';
import type { Route, RouteContext } from '../route.ts';

export function repositoryRoutes(assignable: ReadonlySet<string>): readonly Route[] {
  return [
    { method: 'GET', pattern: '', needs: 'read', handle: readRepository },
    { method: 'PATCH', pattern: '', needs: 'admin', handle: patchRepository },
    {
      method: 'GET',
      pattern: 'assignees/:login',
      needs: 'read',
      handle: ({ params: { login = '' } }) => {
        if (!assignable.has(login.toLowerCase())) throw notFound();
        return emptyResponse();
      },
    },
  ];
}

function readRepository({ world, repository, caller }: RouteContext): TrackerResponse {
  const rights = { admin: isAbleTo(caller, 'admin'), push: isAbleTo(caller, 'write') };
  return jsonResponse(fullRepositoryDocument(world, repository, rights));
}

function patchRepository(context: RouteContext): TrackerResponse {
  const { world, repository, caller, body } = context;
  const name = textOf(body, 'name');
  const flag = (key: string) => {
    const value = body[key];
    return typeof value === 'boolean' ? value : undefined;
  };
  const policy = textOf(body, 'issue_creation_policy');
  const [isPrivate, isArchived, hasIssues] = [
    flag('private'),
    flag('archived'),
    flag('has_issues'),
  ];
  editRepository(
    world,
    { repository, by: caller.account },
    {
      ...(name ? { name } : {}),
      ...(isPrivate === undefined ? {} : { isPrivate }),
      ...(isArchived === undefined ? {} : { isArchived }),
      ...(hasIssues === undefined ? {} : { hasIssues }),
      ...(policy === 'all' || policy === 'collaborators_only'
        ? { issueCreationPolicy: policy }
        : {}),
    },
  );
  return readRepository(context);
}
