import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Finding } from '#catalog/version/artifact.ts';
import { findingsOf, type SpecChecker } from '#catalog/spec/spec-check.ts';
import { type Clock, SECOND } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';

/** Shorter specs take a few milliseconds at most, whatever stands in them. */
const INLINE_CHARACTERS_MAX = 16 * 1024;
const DEADLINE_MS = 5 * SECOND;
const WAITING_MAX = 32;
/** Far more than 5 MiB need. With a small young generation the process keeps 80 MB less of one. */
const HEAP_LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 };

/**
 * Validates big specs in a thread of its own, one after another: some lists of a document are
 * compared each with each, so that 700 KB can take a quarter of a minute. The thread starts with the
 * first of them and never keeps the process alive by itself.
 */
export function createSpecChecker({ clock }: { clock: Pick<Clock, 'sleep'> }): SpecChecker {
  let thread: Worker | undefined;
  let waiting = 0;
  let turn: Promise<unknown> = Promise.resolve();

  const check = async (specText: string): Promise<Finding[]> => {
    const worker = (thread ??= startThread());
    const done = new AbortController();
    worker.ref();
    try {
      return await Promise.race([
        askThread(worker, specText, done.signal),
        clock.sleep(DEADLINE_MS, { signal: done.signal, unref: true }).then(refuseCost),
      ]);
    } catch (error) {
      // Whatever it is at now, nobody waits for it: the next one gets a new thread.
      thread = undefined;
      await worker.terminate();
      if (isTooCostly(error)) return [tooCostly];
      throw error;
    } finally {
      done.abort();
      worker.unref();
    }
  };

  return async (specText) => {
    if (specText.length <= INLINE_CHARACTERS_MAX) return findingsOf(specText);
    if (waiting >= WAITING_MAX) refuseLoad();
    waiting += 1;
    const checked = turn.then(() => check(specText));
    turn = checked.catch(() => undefined);
    return checked.finally(() => {
      waiting -= 1;
    });
  };
}

function startThread(): Worker {
  return new Worker(new URL('spec-thread.ts', import.meta.url), { resourceLimits: HEAP_LIMITS });
}

async function askThread(
  worker: Worker,
  specText: string,
  signal: AbortSignal,
): Promise<Finding[]> {
  const answer = once(worker, 'message', { signal });
  worker.postMessage(specText);
  const [findings] = (await answer) as [Finding[]];
  return findings;
}

const tooCostly: Finding = {
  pointer: '#/spec',
  code: 'too-costly',
  detail: `The spec could not be validated within ${DEADLINE_MS / SECOND} s: too much is wrong with it, or one of its lists is too long.`,
};

const OUT_OF_TIME = 'OUT_OF_TIME';

function refuseCost(): never {
  throw Object.assign(new Error('the deadline has passed'), { code: OUT_OF_TIME });
}

/** @see https://nodejs.org/api/errors.html#err_worker_out_of_memory */
function isTooCostly(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === OUT_OF_TIME || code === 'ERR_WORKER_OUT_OF_MEMORY';
}

function refuseLoad(): never {
  throw new TrackportError('overloaded', {
    detail: 'Too many big specs wait for their validation.',
    retryAfterSeconds: DEADLINE_MS / SECOND,
  });
}
