import type { FastifyRequest } from 'fastify';
import { SECOND } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import { createTurns } from '#shared/resilience/turns.ts';

/** Bound on the answers that one consumer has been sent and has not read. */
const UNREAD_BYTES_MAX = 16 * 1024 * 1024;
/** Answers of more bytes together are made in several turns of the event loop; short ones go on at once. */
const BYTES_A_TURN = 1024 * 1024;
const SHORT_BYTES_MAX = 64 * 1024;
/** So long an answer waits for the consumer to read what it was sent before. */
const WAIT_MAX_MS = 10 * SECOND;

type Waiting = { bytes: number; begin: () => void };
/** Of one consumer. */
type Account = { unread: number; waiting: Set<Waiting> };
type Limits = { bytesMax: number; waitMaxMs: number };

/** Keeps answers that nobody reads from filling the memory: they are not made before there is room for them. */
export type Unread = {
  /**
   * Calls `send`, which makes an answer of so many bytes and sends it: at once, or when the consumer has read
   * what it was sent before.
   * @throws {quota-exceeded} it reads nothing
   */
  send<T>(request: FastifyRequest, bytes: number, send: () => T): T | Promise<T>;
  /** The same for a part of an answer: what it gives is to be called when the part was read. */
  take(request: FastifyRequest, bytes: number): Promise<() => void>;
};

export function createUnread(limits: Partial<Limits> = {}): Unread {
  const all = { bytesMax: UNREAD_BYTES_MAX, waitMaxMs: WAIT_MAX_MS, ...limits };
  const accounts = new Map<string, Account>();
  const turn = createTurns(BYTES_A_TURN);
  const accountOf = ({ keyHolder }: FastifyRequest): Account => {
    const consumerId = keyHolder?.principal.consumerId ?? '';
    const account = accounts.get(consumerId) ?? { unread: 0, waiting: new Set() };
    accounts.set(consumerId, account);
    return account;
  };
  return {
    send: (request, bytes, send) => {
      const account = accountOf(request);
      const begin = () => {
        const { responseOut } = request;
        const giveBack = (): void => change(account, all, -bytes);
        if (responseOut?.closed === true) giveBack();
        else responseOut?.once('close', giveBack);
        return send();
      };
      const room = takeRoom(account, all, { request, bytes });
      if (!room && bytes <= SHORT_BYTES_MAX) return begin();
      return Promise.resolve(room)
        .then(() => turn(bytes))
        .then(begin);
    },
    take: async (request, bytes) => {
      const account = accountOf(request);
      await takeRoom(account, all, { request, bytes });
      return () => change(account, all, -bytes);
    },
  };
}

function hasRoom({ unread }: Account, { bytesMax }: Limits, bytes: number): boolean {
  return unread === 0 || unread + bytes <= bytesMax;
}

/** Those that wait begin in the order in which they came. */
function change(account: Account, limits: Limits, bytes: number): void {
  account.unread += bytes;
  for (const next of account.waiting) {
    if (!hasRoom(account, limits, next.bytes)) return;
    next.begin();
  }
}

/** Undefined: there is room now, and it is taken. */
function takeRoom(
  account: Account,
  limits: Limits,
  { request: { responseOut }, bytes }: { request: FastifyRequest; bytes: number },
): Promise<void> | undefined {
  if (account.waiting.size === 0 && hasRoom(account, limits, bytes)) {
    account.unread += bytes;
    return undefined;
  }
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const own: Waiting = {
    bytes,
    begin: () => {
      account.waiting.delete(own);
      account.unread += bytes;
      resolve();
    },
  };
  account.waiting.add(own);
  const giveUp = (): void => {
    if (!account.waiting.delete(own)) return;
    reject(refusal());
    change(account, limits, 0);
  };
  const timer = setTimeout(giveUp, limits.waitMaxMs);
  responseOut?.once('close', giveUp);
  return promise.finally(() => clearTimeout(timer));
}

function refusal(): TrackportError {
  return new TrackportError('quota-exceeded', {
    detail: 'Too many answers wait for this consumer to read them. Read them, and then ask again.',
    retryAfterSeconds: 5,
  });
}
