import type { PauseCode } from '#partners/deletions/act/issue-editor.ts';

import type { TrackerClient } from '../transport/client.ts';
import type { Headers } from '../transport/rate-limits.ts';
import type { RepositoryFacts } from '../repository.ts';

/**
 * Why issues of the repository cannot be changed, from what the tracker tells of it; undefined when
 * nothing speaks against it. Needed because a write that a token's scopes do not cover gets a
 * 404, and one for which its user lacks the right may get a 200 and be dropped in part.
 * @see https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/scopes-for-oauth-apps
 */
export function reasonNotToWrite(
  { credentialKind }: Pick<TrackerClient, 'credentialKind'>,
  { hasIssues, isArchived, isPrivate, mayWrite }: RepositoryFacts,
  headers: Headers,
): PauseCode | undefined {
  if (!hasIssues) return 'issues-disabled';
  if (isArchived) return 'forbidden';
  if (credentialKind === 'app') return undefined;
  const scopes = credentialKind === 'classic' ? scopesOf(headers) : undefined;
  const isOutOfScope = scopes !== undefined && !coversWriting(scopes, isPrivate);
  return isOutOfScope || mayWrite === false ? 'forbidden' : undefined;
}

/** Of a classic token; other credentials have none. */
export function scopesOf(headers: Headers): readonly string[] | undefined {
  const scopes = headers['x-oauth-scopes']?.toString();
  return scopes
    ?.split(',')
    .map((name) => name.trim())
    .filter(Boolean);
}

/** Whether a classic token with these scopes may change issues, if its user may. */
export function coversWriting(scopes: readonly string[], isPrivate: boolean): boolean {
  return scopes.includes('repo') || (!isPrivate && scopes.includes('public_repo'));
}
