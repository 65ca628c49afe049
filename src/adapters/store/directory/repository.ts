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

/**
 * Claims of the repository that `repository` names. While the store does not know its number yet,
 * every claim counts, whatever repository it is from: a renamed repository must not show for a
 * moment what was deleted.
 */
export const OF_REPOSITORY = `
  (claim.repository_id = (SELECT repository_id FROM tracker_repository WHERE name = @repository)
    OR NOT EXISTS (SELECT 1 FROM tracker_repository WHERE name = @repository))`;

/** Whether the lead in a row of this table is claimed. Counted, so that no engine takes `claim_removal` for it. */
export const IS_CLAIMED = (table: string): string => `
  (SELECT count(*) > count(released_at) FROM claim
    WHERE claim.repository_id = ${table}.repository_id AND claim.number = ${table}.number)`;
