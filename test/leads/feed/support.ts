import type { Change } from '#leads/feed/change.ts';

export const EVERYTHING: Change = { kind: 'everything' };

export function issueChange(number: number, updatedAt = 0): Change {
  const facts = { state: 'open' as const, createdAt: 0, updatedAt, isPullRequest: false };
  return { kind: 'issue', issue: { number, labels: ['approved'], ...facts }, isGone: false };
}

export function gone(number: number, updatedAt = 0): Change {
  return { ...issueChange(number, updatedAt), isGone: true } as Change;
}
