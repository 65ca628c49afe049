/** One service a file: who works on it holds a lock that the operating system takes back, however its holder ends. */
import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import BetterSqlite3 from 'better-sqlite3';
import { type Clock, SECOND, toRfc3339 } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';
import { StoreRefusal, unavailable } from '#shared/database.ts';
import { guard, isBusy } from './errors.ts';
import { createPrivately } from './connection.ts';

/** A service that is replaced ends within 10 s of its `server.stopDelay`, which is taken to be ours. */
const WAIT_MS = 15 * SECOND;
const LOOK_EVERY_MS = 100;

export type ServiceLock = { release(): void };

/** A wait for a lock. */
export type LockWait = {
  clock: Clock;
  log: Log;
  /** Ends the wait: nobody wants the service any more. */
  stopping?: AbortSignal | undefined;
  stopDelayMs: number;
};

/**
 * Locks the file for a service, and waits for who has it, up to 15 s beyond its stop's delay: for the one that it takes
 * the place of.
 * @throws {store-unavailable} naming the other one
 */
export async function lockForService(path: string, wait: LockWait): Promise<ServiceLock> {
  const { clock, log, stopping, stopDelayMs } = wait;
  for (let waitedMs = 0; ; waitedMs += LOOK_EVERY_MS) {
    const lock = takeLock(path);
    if (lock) return lock;
    if (waitedMs === 0) log.info({ holder: holderOf(path) }, 'waiting for who has the store');
    if (waitedMs >= stopDelayMs + WAIT_MS)
      throw new StoreRefusal(
        `${holderOf(path)} works on it, and one service at a time may. Stop that one; several instances share a PostgreSQL store.`,
      );
    await clock.sleep(LOOK_EVERY_MS);
    stopping?.throwIfAborted();
  }
}

/** Locks the file for a command that needs it for itself. @throws {store-unavailable} naming who has it */
export function lockForCommand(path: string): ServiceLock {
  const lock = takeLock(path);
  if (lock) return lock;
  throw unavailable(`${holderOf(path)} works on it. Stop that one first.`);
}

/**
 * An exclusive transaction on an empty database beside the store. A lock on the store itself would keep commands out.
 * No other code may open the file: to close it anywhere in this process gives the lock back.
 */
function takeLock(path: string): ServiceLock | undefined {
  return guard(() => {
    createPrivately(path);
    const file = lockFileOf(path);
    createPrivately(file);
    const handle = new BetterSqlite3(file, { timeout: 0 });
    try {
      handle.exec('BEGIN EXCLUSIVE');
    } catch (error) {
      handle.close();
      if (isBusy(error)) return undefined;
      throw error;
    }
    sayWhoHasIt(path);
    return { release: () => void handle.close() };
  });
}

type Holder = { pid: number; host: string; since: string };

/** A lock on a full disk has no name. */
function sayWhoHasIt(path: string): void {
  const since = toRfc3339(Date.now());
  const holder: Holder = { pid: process.pid, host: hostname(), since };
  try {
    writeFileSync(`${lockFileOf(path)}.json`, JSON.stringify(holder), { mode: 0o600 });
  } catch {
    // Nothing hangs on it.
  }
}

/** Every path to a store has the same one. */
function lockFileOf(path: string): string {
  return `${realpathSync(path)}.lock`;
}

/** Whoever has the lock said so when it took it. */
function holderOf(path: string): string {
  try {
    const text = readFileSync(`${lockFileOf(path)}.json`, 'utf8');
    const { pid, host, since } = JSON.parse(text) as Holder;
    return `Process ${pid} on ${host} (since ${since})`;
  } catch {
    return 'Another process'; // it has only just begun
  }
}
