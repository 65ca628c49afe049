import { type Clock, MINUTE, SECOND } from '#shared/clock.ts';
import { isTrackportError } from '#shared/errors.ts';
import { errorFields, type Log } from '#shared/log.ts';
import { type Alarm, createAlarm } from '#shared/resilience/background.ts';
import { doublingSchedule, retryAfterMsOf, waitMsAfter } from '#shared/resilience/backoff.ts';
import { FEED_READABLE_MS } from '../lead-feed/lead-change.ts';

/** The directory as it is kept, and those who need it. */
export type KeptDirectory = {
  /** True when anybody has read the lead feed since `since` (ms since the Unix epoch). */
  isFollowed(since: number): Promise<boolean>;
  /** While somebody follows the lead feed, what no webhook told is in it within this time. */
  feedIntervalMs: number;
  /** True while there are partners, whose events are matched by the directory. */
  hasPartners(): boolean;
  isComplete(): boolean;
  /** Crawls when it is time. */
  crawl(stopping: AbortSignal): Promise<void>;
  catchUp(): Promise<unknown>;
  /** Called after each look; `code` says why it failed. */
  onEnd(code?: string): void;
  clock: Clock;
  log: Log;
};

const CHECK_EVERY_MS = MINUTE;
const RETRIES = doublingSchedule(10 * SECOND, 5 * MINUTE);
/** Deletions wait for the first crawl. */
const FIRST_CRAWL_RETRIES = doublingSchedule(10 * SECOND, MINUTE);

/**
 * Fills the directory in the background, as long as somebody needs it, and reads what changed for those who follow
 * the lead feed. `start` looks at once, again after `stop`, too.
 */
export function createDirectoryKeeper(directory: KeptDirectory): {
  start(): void;
  stop(): Promise<void>;
} {
  const alarm = createAlarm(directory.clock);
  let stopping = new AbortController();
  let running: Promise<void> | undefined;
  return {
    start: () => {
      if (stopping.signal.aborted) stopping = new AbortController();
      if (running) alarm.ring();
      else running = run(directory, stopping.signal, alarm);
    },
    stop: async () => {
      stopping.abort();
      await running;
      running = undefined;
    },
  };
}

async function run(directory: KeptDirectory, stopping: AbortSignal, alarm: Alarm): Promise<void> {
  let failures = 0;
  while (!stopping.aborted) {
    let waitMs = Math.min(directory.feedIntervalMs, CHECK_EVERY_MS);
    try {
      await keep(directory, stopping);
      failures = 0;
      directory.onEnd();
    } catch (error) {
      if (stopping.aborted) return;
      failures += 1;
      const retries = directory.isComplete() ? RETRIES : FIRST_CRAWL_RETRIES;
      waitMs = Math.max(retryAfterMsOf(error), waitMsAfter(retries, failures));
      directory.onEnd(isTrackportError(error) ? error.code : 'internal-error');
      directory.log.warn(errorFields(error), 'the lead directory could not be filled');
    }
    await alarm.wait(waitMs, stopping);
  }
}

async function keep(directory: KeptDirectory, stopping: AbortSignal): Promise<void> {
  const isFollowed = (): Promise<boolean> =>
    directory.isFollowed(directory.clock.now() - FEED_READABLE_MS);
  if (!directory.hasPartners() && !(await isFollowed())) return;
  await directory.crawl(stopping);
  // A crawl takes its time: somebody may have begun to follow meanwhile.
  if (await isFollowed()) await directory.catchUp();
}
