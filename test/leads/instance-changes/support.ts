import type { InstanceChange } from '#leads/instance-changes.ts';

export const EVERYTHING: InstanceChange = { kind: 'everything' };

export function issueChange(number: number, updatedAt = 0): InstanceChange {
  const facts = { state: 'open' as const, createdAt: 0, updatedAt, isPullRequest: false };
  return { kind: 'issue', issue: { number, labels: ['approved'], ...facts }, isGone: false };
}

export function gone(number: number, updatedAt = 0): InstanceChange {
  return { ...issueChange(number, updatedAt), isGone: true } as InstanceChange;
}
