import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { seededRandom } from '#sandbox/instruments/faults.ts';
import { SECOND } from '#shared/clock.ts';

/** Whose work a task is: an instance of the service, or all that lies outside. */
export type Owner = { name: string; isCut: boolean };

/** Something that somebody waits for. */
type Task = {
  owner: Owner;
  /** Tasks of one lane go on in their order. */
  lane: string;
  what: string;
  /** Ms of virtual time; not before it. */
  at: number;
  order: number;
  isOver: boolean;
  run: () => void;
};

export type Scheduled = { cancel(): void; moveTo(at: number): void };

/** Chances of one seed, as it draws them at its beginning. */
type Tempo = {
  /** Of a leap over several timers where nothing else is to be done. */
  leap: number;
  /** The longest leap, in ms. */
  leapMs: number;
};

// The one that was there before anything was patched.
const { setImmediate: endOfTurn } = globalThis;
const START = Date.parse('2026-03-01T12:00:00Z');
const MONOTONIC_START_MS = 1000;
const LINES_KEPT = 300;

/**
 * Decides what goes on next wherever somebody waits. Whatever happens between two waits happens at once, as it does on
 * an event loop; when all is quiet the next task is drawn, and where there is none time moves on. What lies outside of the
 * process may be waited for: `settled`.
 */
export function createScheduler(seed: number, settled?: () => Promise<void>) {
  const random = seededRandom(seed);
  const owners = new AsyncLocalStorage<Owner>();
  const outside: Owner = { name: 'outside', isCut: false };
  let tasks: Task[] = [];
  let nowMs = 0;
  let order = 0;
  let steps = 0;
  const tempo: Tempo = { leap: 0.3, leapMs: 2000 };
  const recent: string[] = [];
  const digest = createHash('sha256');
  let isClosed = false;
  const note = (line: string): void => {
    if (isClosed) return;
    recent.push(line);
    if (recent.length > 2 * LINES_KEPT) recent.splice(0, LINES_KEPT);
    digest.update(line);
  };

  const add = (
    task: Pick<Task, 'lane' | 'what' | 'at'> & { owner?: Owner; run: () => void },
  ): Scheduled => {
    const owner = task.owner ?? owners.getStore() ?? outside;
    const own: Task = { ...task, owner, order: (order += 1), isOver: owner.isCut };
    own.run = AsyncResource.bind(task.run);
    if (!own.isOver) tasks.push(own);
    return {
      cancel: () => {
        own.isOver = true;
      },
      moveTo: (at) => {
        own.at = at;
        own.order = order += 1;
        own.isOver = false;
        if (!tasks.includes(own)) tasks.push(own);
      },
    };
  };

  /** The first of each lane that is due. */
  const readyTasks = (): Task[] => {
    const first = new Map<string, Task>();
    for (const task of tasks) {
      if (task.at > nowMs) continue;
      const other = first.get(task.lane);
      if (!other || isBefore(task, other)) first.set(task.lane, task);
    }
    return [...first.values()];
  };
  const next = (): Task | undefined => {
    tasks = tasks.filter(({ isOver, owner }) => !isOver && !owner.isCut);
    let ready = readyTasks();
    if (ready.length === 0) {
      const soonest = soonestOf(tasks);
      if (soonest === Infinity) return undefined;
      const isLeap = random() < tempo.leap;
      const latest = soonestOf(tasks.filter(({ lane }) => !lane.startsWith('timers of ')));
      nowMs = isLeap
        ? Math.max(soonest, Math.min(latest, soonest + Math.floor(random() * tempo.leapMs)))
        : soonest;
      ready = readyTasks();
    }
    return ready[Math.floor(random() * ready.length)];
  };

  return {
    random,
    tempo,
    outside,
    add,
    nowMs: () => nowMs,
    now: () => START + nowMs,
    monotonicMs: () => MONOTONIC_START_MS + nowMs,
    steps: () => steps,
    /** Whose work goes on at this moment. */
    owner: () => owners.getStore() ?? outside,
    as: <T>(owner: Owner, work: () => T): T => owners.run(owner, work),
    recent: (): readonly string[] => recent,
    /** Of every line of the history; to be asked for once. */
    digest: () => {
      isClosed = true;
      return digest.digest('hex');
    },
    note,
    /** One task, and all that follows from it without a wait. False: nobody waits for anything. */
    step: async (): Promise<boolean> => {
      const task = next();
      if (!task) return false;
      task.isOver = true;
      steps += 1;
      note(`${(nowMs / SECOND).toFixed(3)} s  ${task.owner.name}: ${task.what}`);
      task.run();
      await quiet();
      await settled?.();
      return true;
    },
    /** Lets time pass at once, as for a machine that slept. */
    leap: (ms: number): void => {
      nowMs += ms;
    },
  };
}

export type Scheduler = ReturnType<typeof createScheduler>;

function isBefore(left: Task, right: Task): boolean {
  return left.at < right.at || (left.at === right.at && left.order < right.order);
}

function soonestOf(tasks: readonly Task[]): number {
  return Math.min(...tasks.map(({ at }) => at));
}

/** Resolves behind all promises that can be settled now. */
function quiet(): Promise<void> {
  return new Promise((resolve) => void endOfTurn(resolve));
}
