import { SECOND, toRfc3339, type Clock } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import type { Erasure, Outcome, ReceiptStatus } from './receipt.ts';
import type { ReceiptStore } from './receipt-store.ts';
import type { StatusTokens } from './status-token.ts';

const RETRY_AFTER_SECONDS_MIN = 1;
const RETRY_AFTER_SECONDS_MAX = 3600;

export type ReadStatusDeps = {
  store: Pick<ReceiptStore, 'readStatus'>;
  tokens: Pick<StatusTokens, 'open'>;
  clock: Pick<Clock, 'now'>;
};

/** What became of a delivery, as whoever has its status address may know it. */
type StatusOut = {
  id: string;
  status: ReceiptStatus;
  events: readonly {
    position: number;
    eventType?: string;
    eventId?: string;
    outcome: Outcome;
    erasure?: Erasure;
    completedAt?: string;
  }[];
};

export type StatusAnswer = {
  status: StatusOut;
  /** There while work is under way: when it makes sense to ask again. */
  retryAfterSeconds?: number;
};

/**
 * What became of the delivery behind a status address. Every token that is of no use gets the same
 * answer, and no look-up. @throws {not-found} @throws {store-unavailable}
 */
export async function readStatus(
  { store, tokens, clock }: ReadStatusDeps,
  token: string,
): Promise<StatusAnswer> {
  const id = tokens.open(token);
  const report = id === undefined ? undefined : await store.readStatus(id);
  if (!report)
    throw new TrackportError('not-found', {
      detail: 'This is no status address, or it is more than 30 days old.',
    });
  const { nextDueAt, events, ...receipt } = report;
  const status: StatusOut = {
    ...receipt,
    events: events.map(({ completedAt, ...event }) => ({
      ...event,
      ...(completedAt === undefined ? {} : { completedAt: toRfc3339(completedAt) }),
    })),
  };
  if (nextDueAt === undefined) return { status };
  return { status, retryAfterSeconds: secondsUntil(nextDueAt - clock.now()) };
}

function secondsUntil(ms: number): number {
  const seconds = Math.ceil(ms / SECOND) + 1; // what is due takes a moment
  return Math.min(RETRY_AFTER_SECONDS_MAX, Math.max(RETRY_AFTER_SECONDS_MIN, seconds));
}
