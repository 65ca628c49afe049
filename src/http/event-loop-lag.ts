import { monitorEventLoopDelay } from 'node:perf_hooks';

/** How late a timer of so many ms comes is what is measured. */
const RESOLUTION_MS = 10;
const NANOSECONDS = 1e6;

/** Tells whether the event loop gets to its work too late. Nothing that it does can fail. */
export type LoopLag = {
  /** Whether work waited for longer than the limit, on an average over the last sample. */
  isOver(): boolean;
  stop(): void;
};

/** Takes a sample every `lagMsMax`, which is the limit, too. */
export function watchLoopLag(lagMsMax: number): LoopLag {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  let lagMs = 0;
  const sampling = setInterval(() => {
    // Not a number: no timer came at all.
    lagMs = Number.isNaN(delays.mean) ? Infinity : delays.mean / NANOSECONDS - RESOLUTION_MS;
    delays.reset();
  }, lagMsMax).unref();
  return {
    isOver: () => lagMs > lagMsMax,
    stop: () => {
      clearInterval(sampling);
      delays.disable();
    },
  };
}
