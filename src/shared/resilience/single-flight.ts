/**
 * Ways to let calls share one run of the same work. They differ in which calls a run serves: a single
 * flight those that come while it is under way, so that what it brings may be older than the call; the
 * others only those that came before it began. Whoever shares a run shares its failure; nothing of a
 * finished run is remembered.
 */
import { setImmediate } from 'node:timers/promises';

type SingleFlight<T> = {
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
 * One look for all who ask the same in a turn of the event loop, later than everything that arrived in it.
 * Questions are told apart by their JSON.
 */
export function createFlightsByQuestion<Question, T>(
  look: (question: Question) => Promise<T>,
): (question: Question) => Promise<T> {
  const flights = new Map<string, Promise<T>>();
  return (question) => {
    const key = JSON.stringify(question);
    const begin = async (): Promise<T> => {
      await setImmediate();
      flights.delete(key);
      return look(question);
    };
    const flight = flights.get(key) ?? begin();
    flights.set(key, flight);
    return flight;
  };
}

/** So many turns a run waits at most. */
const TURNS_MAX = 3;

/**
 * One run at a time. A call joins the next run, which begins when the one before it has ended and a turn
 * of the event loop has brought no further call: a run that began with the first call of a burst would be
 * too early for the others. Those who share a run also respond together, which wakes their readers once
 * and halves the cost of a hot read.
 */
export function createNextTurnFlight<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  let calls = 0;
  const untilQuiet = async (): Promise<void> => {
    for (let turn = 0, before = 0; turn < TURNS_MAX && calls > before; turn += 1) {
      before = calls;
      await setImmediate();
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
