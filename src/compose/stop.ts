/**
 * A stop, step by step. It takes no 10 s beyond `server.stopDelay`, from whose end its times are counted.
 *
 * 1. `/readyz` turns to 503; everything is served as before for the delay, so that load balancers can notice.
 * 2. Meanwhile the worker finishes its step. After the delay those who wait for a change of the feed are let
 *    go, and requests in flight are waited for: 6 s.
 * 3. Calls to the tracker are cut after 7 s: one that hangs must not hold up the rest.
 * 4. The public server closes, and cuts connections that are busy after 8 s. What it took in and works on without its
 *    caller ends with it (`onClose`): the webhook's events are stored, refusals that were counted are logged.
 * 5. `cleanup` gives back the rest, last first: health and metrics, the portal, the records of who calls and sends (each
 *    written for the last time), the store, traces.
 * 6. After 9 s the process waits for nothing any more.
 */
import { setImmediate } from 'node:timers/promises';
import type { HttpApp } from '#http/context.ts';
import type { ServerLoad } from '#http/server-load.ts';
import { aborted, type Clock } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';
import type { App } from './app.ts';

const DRAINED_AFTER_MS = 6000;
const CUT_AFTER_MS = 7000;
const CLOSED_AFTER_MS = 8000;
const GIVE_UP_MS = 9000;
const LOOK_EVERY_MS = 20;

/** State of a stop, which may not have begun. */
export type Stopping = {
  hasBegun: boolean;
  /** Aborted when nobody is to wait for anything any more. */
  ending: AbortController;
  /** Aborted when calls to the tracker are to end. */
  cut: AbortController;
  /** Instant at which connections are to be gone, in ms of the monotonic clock. */
  deadline?: number;
};

/** @see Service.stop */
export async function stop(app: App, stopping: Stopping, load: ServerLoad): Promise<void> {
  const { config, clock, log, partners, cleanup } = app;
  const delayMs = config.server.stopDelay;
  stopping.hasBegun = true;
  log.info({}, 'stopping');
  void cutInTime(clock, delayMs, stopping.cut);
  void clock.sleep(delayMs, { unref: true }).then(() => stopping.ending.abort());
  stopping.deadline = await drain({ clock, delayMs, load, work: partners.stop() });
  await cleanup.disposeAsync();
  log.info({}, 'stopped');
}

type Drain = {
  clock: Clock;
  /** Time in which everything is served as before. */
  delayMs: number;
  load: ServerLoad;
  /** Finished meanwhile. */
  work: Promise<unknown>;
};

/**
 * Keeps listening until the work is done, nothing is in flight and nobody came for a moment: a connection that the
 * system has taken, and this process has not yet, would be reset. Returns until when the rest of the stop should be
 * done, in ms of the monotonic clock.
 */
export async function drain({ clock, delayMs, load, work }: Drain): Promise<number> {
  const isDone = watchEnd(work);
  load.endConnections();
  if (delayMs > 0) await clock.sleep(delayMs);
  const begunAt = clock.monotonicMs();
  const isLate = (): boolean => clock.monotonicMs() >= begunAt + DRAINED_AFTER_MS;
  let arrivals: number;
  do {
    arrivals = load.arrivals();
    await clock.sleep(LOOK_EVERY_MS);
    // A busy process wakes late, before it has looked at its port: one turn takes what waits there.
    await setImmediate();
  } while ((!isDone() || load.inFlight() > 0 || load.arrivals() > arrivals) && !isLate());
  return begunAt + CLOSED_AFTER_MS;
}

function watchEnd(work: Promise<unknown>): () => boolean {
  let isDone = false;
  const end = (): void => {
    isDone = true;
  };
  work.then(end, end);
  return () => isDone;
}

async function cutInTime(clock: Clock, delayMs: number, cut: AbortController): Promise<void> {
  await clock.sleep(delayMs + CUT_AFTER_MS, { unref: true });
  cut.abort(new DOMException('the service stops', 'TimeoutError'));
}

/**
 * Takes no more connections, ends the rest once they have a response, and cuts those that are open after `deadline`
 * (ms of the monotonic clock).
 */
export async function closeInTime(fastify: HttpApp, clock: Clock, deadline: number): Promise<void> {
  const cut = new AbortController();
  const cutting = clock
    .sleep(deadline - clock.monotonicMs(), { signal: cut.signal, unref: true })
    .then(() => fastify.server.closeAllConnections())
    .catch(() => undefined);
  await fastify.close();
  cut.abort(new Error('closed in time'));
  await cutting;
}

/** Ends the wait for a start that was told to stop, as that for a stop is ended. @throws the signal's reason */
export async function giveUpStart(clock: Clock, signal: AbortSignal): Promise<never> {
  await aborted(signal);
  await clock.sleep(GIVE_UP_MS, { unref: true });
  throw signal.reason;
}

/**
 * Ends the wait for a stop, so that the process exits: a store that does not respond would hold everything up that is to
 * be given back. What was asked for last is as after a crash.
 */
export async function giveUpStop(clock: Clock, delayMs: number, log: Log): Promise<void> {
  await clock.sleep(delayMs + GIVE_UP_MS, { unref: true });
  log.warn({}, 'stopped before everything had ended');
}
