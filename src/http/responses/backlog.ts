import type { FastifyRequest } from 'fastify';
import { SECOND } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import { createTurns } from '#shared/resilience/turns.ts';

/** Bound on the responses that one consumer has been sent and has not read. */
const BACKLOG_BYTES_MAX = 16 * 1024 * 1024;
/** Responses of more bytes together are made in several turns of the event loop; short ones go on at once. */
const BYTES_A_TURN = 1024 * 1024;
const SHORT_BYTES_MAX = 64 * 1024;
/** So long a response waits for the consumer to read what it was sent before. */
const WAIT_MAX_MS = 10 * SECOND;

type Waiting = { bytes: number; begin: () => void };
/** Of one consumer, for as long as there is anything. */
type Account = { bytes: number; waiting: Waiting[] };

/**
 * Responses that consumers have been sent and have not read. They must not fill the memory: no further one is made
 * before there is room for it. All throw `quota-exceeded` when its consumer reads nothing.
 */
export type Backlog = {
  /**
   * Calls `send`, which makes a response of so many bytes and sends it: at once, or when there is room. `hasWaited`:
   * what is sent was read some time ago.
   */
  send<T>(
    request: FastifyRequest,
    bytes: number,
    send: (hasWaited: boolean) => T | Promise<T>,
  ): T | Promise<T>;
  /** Takes room ahead for the response to this request, where its length is not known before it is made. */
  reserve(request: FastifyRequest, bytes: number): Promise<void>;
  /**
   * Takes the room for the response that it was reserved for, in place of that, now that it is made: in front of all that
   * wait, for it is held meanwhile. Nothing where none was reserved.
   */
  settle(request: FastifyRequest, bytes: number): Promise<void>;
  /** Takes the room for a part of a response. Call what it gives when the part was read. */
  take(request: FastifyRequest, bytes: number): Promise<() => void>;
};

export function createBacklog(): Backlog {
  const accounts = new Map<string, Account>();
  const turn = createTurns(BYTES_A_TURN);
  /** Takes the room: undefined where there is some now. */
  const take = (request: FastifyRequest, bytes: number, isFirst = false) => {
    if (!request.keyHolder) throw new Error('only holders of a key have a backlog');
    const { consumerId } = request.keyHolder.principal;
    const account = accounts.get(consumerId) ?? { bytes: 0, waiting: [] };
    accounts.set(consumerId, account);
    const giveBack = (): void => {
      change(account, -bytes);
      // An answer without a body may end behind the account that it was of.
      if (account.bytes === 0 && accounts.get(consumerId) === account) accounts.delete(consumerId);
    };
    return { room: takeRoom(account, request, { bytes, isFirst }), giveBack };
  };
  /** By a request: gives back the room that is reserved for it. */
  const reserved = new WeakMap<FastifyRequest, () => void>();
  const send: Backlog['send'] = (request, bytes, work) => {
    const { room, giveBack } = take(request, bytes);
    const begin = () => {
      atClose(request, giveBack);
      return work(room !== undefined);
    };
    if (!room && bytes <= SHORT_BYTES_MAX) return begin();
    return Promise.resolve(room)
      .then(() => turn(bytes))
      .then(begin);
  };
  return {
    send,
    reserve: async (request, bytes) => {
      const { room, giveBack } = take(request, bytes);
      await room;
      reserved.set(request, giveBack);
      atClose(request, () => {
        if (reserved.delete(request)) giveBack();
      });
      await turn(bytes);
    },
    settle: async (request, bytes) => {
      const giveBack = reserved.get(request);
      if (!giveBack) return;
      reserved.delete(request);
      const sent = take(request, bytes, true);
      giveBack();
      await sent.room;
      atClose(request, sent.giveBack);
    },
    take: async (request, bytes) => {
      const { room, giveBack } = take(request, bytes);
      await room;
      return giveBack;
    },
  };
}

function atClose({ responseOut }: FastifyRequest, done: () => void): void {
  if (responseOut?.closed === true) done();
  else responseOut?.once('close', done);
}

function hasRoom(account: Account, bytes: number): boolean {
  return account.bytes === 0 || account.bytes + bytes <= BACKLOG_BYTES_MAX;
}

/** Those that wait begin in their order. */
function change(account: Account, bytes: number): void {
  account.bytes += bytes;
  const { waiting } = account;
  for (let [next] = waiting; next && hasRoom(account, next.bytes); [next] = waiting) next.begin();
}

/** Undefined: there is room now, and it is taken. */
function takeRoom(
  account: Account,
  { responseOut }: FastifyRequest,
  { bytes, isFirst }: { bytes: number; isFirst: boolean },
): Promise<void> | undefined {
  const { waiting } = account;
  if ((isFirst || waiting.length === 0) && hasRoom(account, bytes)) {
    account.bytes += bytes;
    return undefined;
  }
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const own: Waiting = {
    bytes,
    begin: () => {
      leave();
      account.bytes += bytes;
      resolve();
    },
  };
  const leave = (): boolean => {
    const place = waiting.indexOf(own);
    return waiting.splice(place, place < 0 ? 0 : 1).length > 0;
  };
  if (isFirst) waiting.unshift(own);
  else waiting.push(own);
  const giveUp = (): void => {
    if (!leave()) return;
    reject(refusal());
    change(account, 0);
  };
  const timer = setTimeout(giveUp, WAIT_MAX_MS);
  responseOut?.once('close', giveUp);
  return promise.finally(() => {
    clearTimeout(timer);
    responseOut?.off('close', giveUp);
  });
}

function refusal(): TrackportError {
  return new TrackportError('quota-exceeded', {
    detail:
      'Too many answers to this consumer are made, or wait to be read. Read them, and then ask again.',
    retryAfterSeconds: 5,
  });
}
