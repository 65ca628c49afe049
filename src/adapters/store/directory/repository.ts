import type { Session } from '../session.ts';

/** The number of the repository that `@name` means. */
export const NAMED =
  '(SELECT repository_id FROM tracker_repository WHERE name = /*sqlite +*/@name)';

const READ = 'SELECT repository_id FROM tracker_repository WHERE name = @name';

/** As the tracker named it last. `name` is `owner/name` in lower case. */
export async function readRepositoryId(
  session: Session,
  name: string,
): Promise<number | undefined> {
  return (await session.get<{ repositoryId: number }>(READ, { name }))?.repositoryId;
}
