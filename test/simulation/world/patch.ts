/**
 * The process's own time, chance and waits, in the hands of a scheduler. Nothing of the service knows of it: what it
 * takes from Node it takes from here, by whatever name.
 */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { seededRandom } from '#sandbox/instruments/faults.ts';
import type { Scheduled, Scheduler } from './scheduler.ts';

let scheduler: Scheduler;

/** Each from a row of numbers of its own: some are kept in stock from one history to the next, and must not move others. */
let chance: Record<'bytes' | 'uuids' | 'numbers', () => number>;

/** From now on this one decides. */
export function useScheduler(next: Scheduler, seed: number): void {
  scheduler = next;
  chance = {
    bytes: seededRandom(seed ^ 0xb17e5),
    uuids: seededRandom(seed ^ 0x1d5),
    numbers: seededRandom(seed ^ 0xacc),
  };
}

class Timer {
  readonly #ms: number;
  readonly #scheduled: Scheduled;
  #isOver = false;
  constructor(ms: number, repeats: boolean, run: () => void) {
    this.#ms = Math.max(1, Math.floor(ms || 0));
    const fire = (): void => {
      if (repeats && !this.#isOver) this.refresh();
      run();
    };
    const { name } = scheduler.owner();
    const at = scheduler.nowMs() + this.#ms;
    this.#scheduled = scheduler.add({ lane: `timers of ${name}`, what: 'a timer', at, run: fire });
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  hasRef(): boolean {
    return true;
  }
  refresh(): this {
    if (!this.#isOver) this.#scheduled.moveTo(scheduler.nowMs() + this.#ms);
    return this;
  }
  cancel(): void {
    this.#isOver = true;
    this.#scheduled.cancel();
  }
}

type Callback = (...values: unknown[]) => void;

const setTimer =
  (repeats: boolean) =>
  (callback: Callback, ms: number, ...values: unknown[]) =>
    new Timer(ms, repeats, () => callback(...values));

const clearTimer = (timer: unknown): void => {
  if (timer instanceof Timer) timer.cancel();
};

function immediate(callback: Callback, ...values: unknown[]): Scheduled {
  const { name } = scheduler.owner();
  const what = 'a turn of the event loop';
  const at = scheduler.nowMs();
  return scheduler.add({ lane: `turns of ${name}`, what, at, run: () => callback(...values) });
}

function sleep(ms: number, value?: unknown, options: { signal?: AbortSignal } = {}) {
  const { signal } = options;
  return new Promise((resolve, reject) => {
    const timer = new Timer(ms, false, () => resolve(value));
    signal?.addEventListener('abort', () => {
      timer.cancel();
      reject(signal.reason as Error);
    });
  });
}

function timeoutSignal(ms: number): AbortSignal {
  const over = new AbortController();
  const late = (): void =>
    over.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
  void new Timer(ms, false, late);
  return over.signal;
}

/** Node's own stay in memory for as long as somebody listens, and who was cut off listens for ever. */
function anySignal(signals: Iterable<AbortSignal>): AbortSignal {
  const over = new AbortController();
  for (const signal of signals) {
    if (signal.aborted) over.abort(signal.reason);
    else signal.addEventListener('abort', () => over.abort(signal.reason));
  }
  return over.signal;
}

function draw(length: number, random: () => number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; at += 1) bytes[at] = Math.floor(random() * 256);
  return bytes;
}

function randomBytes(length: number): Buffer {
  return draw(length, chance.bytes);
}

function randomUUID(): string {
  const digits = draw(16, chance.uuids).toString('hex');
  const part = (from: number, to: number): string => digits.slice(from, to);
  return `${part(0, 8)}-${part(8, 12)}-4${part(13, 16)}-a${part(17, 20)}-${part(20, 32)}`;
}

/** Once a process, which is good for nothing else from then on. */
export function patchProcess(): void {
  Object.assign(globalThis, {
    setTimeout: setTimer(false),
    setInterval: setTimer(true),
    setImmediate: immediate,
    clearTimeout: clearTimer,
    clearInterval: clearTimer,
    clearImmediate: (scheduled: Scheduled | undefined) => scheduled?.cancel(),
  });
  Object.assign(timers, {
    setTimeout: sleep,
    setImmediate: (value?: unknown) =>
      new Promise((resolve) => void immediate(() => resolve(value))),
  });
  Object.assign(crypto, { randomBytes, randomUUID });
  Object.assign(AbortSignal, { timeout: timeoutSignal, any: anySignal });
  Date.now = () => scheduler.now();
  performance.now = () => scheduler.monotonicMs();
  Math.random = () => chance.numbers();
  syncBuiltinESMExports();
}
