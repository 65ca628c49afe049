import { REPOSITORY_NOT_KNOWN } from '#leads/claims/claim-order.ts';
import type { Session } from '../connection/database.ts';

/** Behind all that readers of removals have read by now. */
export const NEXT_REMOVAL =
  'greatest(@at::bigint, (SELECT last_removed_at + 1 FROM claim_version))';

const NOTE_REMOVALS = `
  UPDATE claim_version SET last_removed_at = greatest(last_removed_at,
    (SELECT max(removed_at) FROM claim WHERE released_at IS NULL))`;

/** Runs a statement that dates claims anew by `NEXT_REMOVAL`. */
export async function redateClaims(
  session: Session,
  sql: string,
  values: Parameters<Session['run']>[1],
): Promise<void> {
  if ((await session.run(sql, values)) > 0) await session.run(NOTE_REMOVALS);
}

/** Gives the repository the claims that were made before its number was known. */
export const ADOPT = `
  UPDATE claim SET repository_id = @repositoryId, removed_at = ${NEXT_REMOVAL}
  WHERE repository_id = ${REPOSITORY_NOT_KNOWN} AND NOT EXISTS (
    SELECT 1 FROM claim AS own WHERE own.repository_id = @repositoryId
      AND own.number = claim.number AND own.event = claim.event)`;
