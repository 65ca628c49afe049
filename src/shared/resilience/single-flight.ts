/**
 * Five ways to let calls share one run of the same work. They differ in which calls a run serves.
 * Whoever shares a run shares its failure; nothing of a finished run is remembered.
 */
import { setImmediate as endOfTurn } from 'node:timers/promises';

export type SingleFlight<T> = {
  (): Promise<T>;
  /** True while a run is under way. */
  isRunning(): boolean;
};

/** A call joins the run that is under way, or begins one. */
export function createSingleFlight<T>(work: () => Promise<T>): SingleFlight<T> {
  let running: Promise<T> | undefined;
  const run = (): Promise<T> =>
    (running ??= work().finally(() => {
      running = undefined;
    }));
  return Object.assign(run, { isRunning: () => running !== undefined });
}

/**
 * Every call is served by a run that began after it: a call while one is under way waits for the
 * next, which serves all that came meanwhile.
 */
export function createNextFlight<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  const start = async (): Promise<T> => {
    const run = work();
    running = run;
    try {
      return await run;
    } finally {
      running = undefined;
    }
  };
  const startNext = async (before: Promise<T>): Promise<T> => {
    await before.catch(() => undefined); // its own callers hear of the failure
    next = undefined;
    return start();
  };
  return () => {
    if (!running) return start();
    next ??= startNext(running);
    return next;
  };
}

/**
 * One look for all callers of a turn of the event loop, later than everything that arrived in it.
 * They go on together: responses that leave in one burst wake their readers once, which halves the
 * cost of a hot read.
 */
export function createTurnFlight<T>(look: () => T | Promise<T>): () => Promise<T> {
  let pending: Promise<T> | undefined;
  return () =>
    (pending ??= endOfTurn().then(() => {
      pending = undefined;
      return look();
    }));
}

/** The same for each of many questions, which are told apart by their JSON. */
export function createTurnFlights<Question, T>(
  look: (question: Question) => Promise<T>,
): (question: Question) => Promise<T> {
  const flights = new Map<string, Promise<T>>();
  return (question) => {
    const key = JSON.stringify(question);
    const begin = async (): Promise<T> => {
      await endOfTurn();
      flights.delete(key);
      return look(question);
    };
    const flight = flights.get(key) ?? begin();
    flights.set(key, flight);
    return flight;
  };
}

/** A run is put off for calls that keep coming, but not for longer. */
const TURNS_MAX = 3;

/**
 * Both of these, for work that waits for somebody else: every call is served by a run that began after
 * its turn, one run at a time. A run begins when a turn has brought no more calls, or after three:
 * begun with the first call, it would leave the others of a burst to another run.
 */
export function createNextTurnFlight<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  let calls = 0;
  const untilQuiet = async (): Promise<void> => {
    for (let turn = 0, before = 0; turn < TURNS_MAX && calls > before; turn += 1) {
      before = calls;
      await endOfTurn();
    }
  };
  const startNext = async (): Promise<T> => {
    await running?.catch(() => undefined); // its own callers hear of the failure
    await untilQuiet();
    next = undefined;
    calls = 0;
    running = work();
    return running;
  };
  return () => {
    calls += 1;
    return (next ??= startNext());
  };
}
