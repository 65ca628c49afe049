import type { IdentityKind } from '#leads/directory/lead-directory.ts';
import type { DirectoryView } from '#partners/deletions/match/match.ts';
import type { Connection } from '../connection/connection.ts';
import { guard } from '../connection/errors.ts';

const NAMED = '(SELECT repositoryId FROM tracker_repository WHERE name = +@name)';

/** The hash itself and all that were merged into it, on whatever way; for `WITH RECURSIVE`. */
export const MERGED_INTO = (hash: string): string => `
  known (hash) AS (
    ${hash} UNION SELECT fromHash FROM known JOIN directory_merge ON toHash = known.hash)`;

/**
 * The lead directory of the repository that `repository` (`owner/name`, in any case) names, for
 * look-ups inside a transaction. Every call throws `store-unavailable` when the store fails.
 */
export function createDirectoryView({ handle }: Connection, repository: string): DirectoryView {
  const name = repository.toLowerCase();
  const sql = guard(() => ({
    createdAt: handle
      .prepare<[{ name: string; number: number }], number>(
        `SELECT createdAt FROM directory_lead WHERE number = +@number AND repositoryId = ${NAMED}`,
      )
      .pluck(),
    find: handle
      .prepare<[{ name: string; hash: Buffer }], number>(
        `WITH RECURSIVE ${MERGED_INTO('SELECT +@hash')}
         SELECT DISTINCT number FROM known CROSS JOIN directory_key ON keyHash = known.hash
         WHERE repositoryId = ${NAMED} ORDER BY number`,
      )
      .pluck(),
    identitiesOf: handle.prepare<
      [{ name: string; number: number }],
      { kind: IdentityKind | null; hash: Buffer }
    >(
      `WITH RECURSIVE known (kind, hash) AS (
         SELECT kind, keyHash FROM directory_key
         WHERE repositoryId = ${NAMED} AND number = +@number
         UNION SELECT kind, toHash FROM known JOIN directory_merge ON fromHash = known.hash)
       SELECT kind, hash FROM known`,
    ),
  }));
  return {
    has: (number) => guard(() => sql.createdAt.get({ name, number }) !== undefined),
    createdAt: (number) => guard(() => sql.createdAt.get({ name, number })),
    find: (hash) => guard(() => sql.find.all({ name, hash })),
    identitiesOf: (number) => guard(() => sql.identitiesOf.all({ name, number })),
  };
}
