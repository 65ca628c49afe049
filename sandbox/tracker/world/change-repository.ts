import type { Target } from './change-issues.ts';
import type { Repository, World } from './model.ts';
import { fullNameOf, nowInSeconds, publish } from './world.ts';

export type RepositoryPatch = Partial<
  Pick<Repository, 'name' | 'isPrivate' | 'isArchived' | 'hasIssues' | 'issueCreationPolicy'>
>;

/** Changes settings and publishes each; after a rename the old name redirects. */
export function editRepository(world: World, target: Target, patch: RepositoryPatch): void {
  const { repository, by: sender } = target;
  const before = { ...repository };
  repository.name = patch.name ?? repository.name;
  repository.isPrivate = patch.isPrivate ?? repository.isPrivate;
  repository.isArchived = patch.isArchived ?? repository.isArchived;
  repository.hasIssues = patch.hasIssues ?? repository.hasIssues;
  repository.issueCreationPolicy = patch.issueCreationPolicy ?? repository.issueCreationPolicy;
  repository.updatedAt = nowInSeconds(world);
  world.names.set(fullNameOf(repository).toLowerCase(), repository.id);
  world.version += 1;
  const publishAction = (action: string, changes?: () => Record<string, unknown>): void =>
    publish(world, {
      event: 'repository',
      action,
      repository,
      sender,
      ...(changes ? { changes } : {}),
    });
  if (before.name !== repository.name)
    publishAction('renamed', () => ({ repository: { name: { from: before.name } } }));
  if (before.isPrivate !== repository.isPrivate)
    publishAction(repository.isPrivate ? 'privatized' : 'publicized');
  if (before.isArchived !== repository.isArchived)
    publishAction(repository.isArchived ? 'archived' : 'unarchived');
}
