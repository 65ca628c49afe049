import type { CallFate } from './tracker.ts';

/** Faults, and how often they come: shares of 1, and ms. */
export type Weather = {
  delayed: number;
  delayMs: number;
  /** Commits that fail; commits whose answer does not come. */
  full: number;
  lostCommit: number;
  webhookLost: number;
  webhookRepeated: number;
  webhookLate: number;
  webhookDelayMs: number;
  /** Steps in which an instance is cut off. */
  cut: number;
  /** Calls to the tracker that go wrong, and how. */
  callsFail: number;
  /** Steps in which another process takes the lock of the store, or the tracker's quota is used up. */
  locked: number;
  noQuota: number;
};

const FATES = ['refused', 'lost', 'silent', 'error', 'slow-down', 'labels-dropped'] as const;

export const calm: Weather = {
  delayed: 0,
  delayMs: 0,
  full: 0,
  lostCommit: 0,
  webhookLost: 0,
  webhookRepeated: 0,
  webhookLate: 0,
  webhookDelayMs: 0,
  cut: 0,
  callsFail: 0,
  locked: 0,
  noQuota: 0,
};

/** Each seed has its own: some have none of a kind. */
export function drawWeather(random: () => number): Weather {
  const share = (most: number): number => (random() < 0.4 ? 0 : random() * most);
  return {
    ...calm,
    delayed: random() * 0.5,
    delayMs: random() < 0.2 ? 3000 : 50,
    full: share(0.03),
    lostCommit: share(0.03),
    webhookLost: share(0.4),
    webhookRepeated: share(0.2),
    webhookLate: share(0.5),
    webhookDelayMs: random() < 0.3 ? 60_000 : 2000,
    cut: share(0.01),
    callsFail: share(0.2),
    locked: share(0.01),
    noQuota: share(0.004),
  };
}

export function drawFate({ callsFail }: Weather, random: () => number): CallFate {
  if (callsFail === 0 || random() >= callsFail) return 'answered';
  return FATES[Math.floor(random() * FATES.length)] ?? 'error';
}
