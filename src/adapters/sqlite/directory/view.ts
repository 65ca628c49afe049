import type { IdentityKind } from '#leads/directory/lead-directory.ts';
import type { DirectoryView } from '#partners/deletions/match/match.ts';
import type { Connection } from '../connection/connection.ts';
import { guard } from '../connection/errors.ts';

const NAMED = '(SELECT repositoryId FROM tracker_repository WHERE name = +@name)';

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
        `SELECT number FROM directory_key WHERE keyHash = +@hash AND repositoryId = ${NAMED}
         ORDER BY number`,
      )
      .pluck(),
    identitiesOf: handle.prepare<
      [{ name: string; number: number }],
      { kind: IdentityKind | null; hash: Buffer }
    >(
      `SELECT kind, keyHash AS hash FROM directory_key
       WHERE repositoryId = ${NAMED} AND number = +@number`,
    ),
  }));
  return {
    has: (number) => guard(() => sql.createdAt.get({ name, number }) !== undefined),
    createdAt: (number) => guard(() => sql.createdAt.get({ name, number })),
    find: (hash) => guard(() => sql.find.all({ name, hash })),
    identitiesOf: (number) => guard(() => sql.identitiesOf.all({ name, number })),
  };
}
