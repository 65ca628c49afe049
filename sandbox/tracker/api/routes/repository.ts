import { emptyResponse, jsonResponse, notFound, type TrackerResponse } from '../response.ts';
import { DEFAULT_LOGIN, isAbleTo, type TokenGrant } from '../callers/caller.ts';
import { editRepository } from '../../world/change-repository.ts';
import { textOf } from '../input.ts';
import { fullRepositoryDocument } from '../documents/repository.ts';
import type { Route, RouteContext } from '../route.ts';

/** Issues can be assigned to whoever may push: the users of these tokens. */
export function repositoryRoutes(tokens: readonly TokenGrant[]): readonly Route[] {
  const assignable = new Set(
    tokens
      .filter(({ can }) => isAbleTo({ can }, 'write'))
      .map(({ login = DEFAULT_LOGIN }) => login.toLowerCase()),
  );
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
    },
  );
  return readRepository(context);
}
