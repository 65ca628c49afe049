import { REPOSITORY_NOT_KNOWN } from '#leads/claims/claim-order.ts';
import type { DescribedLead } from '#leads/claims/claim-order.ts';
import type { Session } from '../connection/database.ts';

const DESCRIBE = `
  UPDATE claim SET is_described = true, approved = @isApproved, labels = @labels,
    removed_at = CASE WHEN @isApproved
      THEN greatest(@at, (SELECT last_removed_at + 1 FROM claim_version)) ELSE removed_at END
  WHERE repository_id = @repositoryId AND number = @number AND NOT is_described`;

const NOTE_REMOVAL = `
  UPDATE claim_version SET last_removed_at = greatest(last_removed_at,
    (SELECT max(removed_at) FROM claim
     WHERE repository_id = @repositoryId AND number = @number))`;

/**
 * Completes the claims of a lead that was claimed by its number alone. In the removals feed it comes
 * behind all that readers have read by now.
 */
export async function describeClaims(
  session: Session,
  lead: DescribedLead,
  at: number,
): Promise<void> {
  if ((await session.run(DESCRIBE, { ...lead, at })) > 0) await session.run(NOTE_REMOVAL, lead);
}

/** Once a match is certain the tracker shows what we have done to the issue. */
const CATCH_UP = `
  UPDATE claim SET approved = true,
    labels = CASE WHEN approved
      THEN ARRAY(SELECT unnest(claim.labels) UNION SELECT unnest(@labels::text[]))
      ELSE @labels::text[] END,
    removed_at = greatest(@at::bigint, (SELECT last_removed_at + 1 FROM claim_version))
  WHERE repository_id = @repositoryId AND number = @number AND released_at IS NULL
    AND NOT (approved AND labels @> @labels::text[])
    AND EXISTS (SELECT 1 FROM directory_lead AS seen WHERE seen.repository_id = @repositoryId
      AND seen.number = @number AND seen.updated_at <= @updatedAt)
    AND NOT EXISTS (SELECT 1 FROM claim AS certain WHERE certain.repository_id = @repositoryId
      AND certain.number = @number AND NOT certain.is_provisional
      AND certain.released_at IS NULL)`;

/**
 * What a newer state of the lead tells while all its claims wait for a match: it is described as it
 * was when it went out of sight, and the directory may have been behind. Only adds.
 */
export async function catchUpClaims(
  session: Session,
  lead: DescribedLead & { updatedAt: number },
  at: number,
): Promise<void> {
  if (lead.isApproved && (await session.run(CATCH_UP, { ...lead, at })) > 0)
    await session.run(NOTE_REMOVAL, lead);
}

/** Whether `describeClaims` has anything to complete. */
export async function hasUndescribedClaims(session: Session): Promise<boolean> {
  const row = await session.get('SELECT 1 FROM claim WHERE NOT is_described LIMIT 1');
  return row !== undefined;
}

const ADOPT = `
  UPDATE claim SET repository_id = @repositoryId
  WHERE repository_id = ${REPOSITORY_NOT_KNOWN} AND NOT EXISTS (
    SELECT 1 FROM claim AS own WHERE own.repository_id = @repositoryId
      AND own.number = claim.number AND own.event = claim.event)`;

const KNOWN_NOW = `
  SELECT DISTINCT lead.repository_id, lead.number, lead.approved AS is_approved, lead.labels
  FROM claim JOIN directory_lead AS lead USING (repository_id, number)
  WHERE claim.repository_id = @repositoryId AND NOT is_described`;

/** Gives the repository the claims that were made before its number was known. */
export async function adoptClaims(
  session: Session,
  repositoryId: number,
  at: number,
): Promise<void> {
  if ((await session.run(ADOPT, { repositoryId })) === 0) return;
  for (const lead of await session.all<DescribedLead>(KNOWN_NOW, { repositoryId }))
    await describeClaims(session, lead, at);
}
