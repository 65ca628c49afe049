import type { Clock } from '#shared/clock.ts';
import type { TrackerRequest } from '../tracker/api/route.ts';

/** One request of the API, as it ended. `status` 0: no response left (reset or hang). */
type Call = {
  /** Time at which its response was made, in milliseconds. */
  at: number;
  method: string;
  path: string;
  query: string;
  status: number;
  /** It counted against the primary limit. */
  billed: boolean;
};

export type CallLog = {
  /** Oldest first; the last 100,000. */
  readonly entries: readonly Call[];
  record(request: TrackerRequest, outcome: { status: number; billed: boolean }): void;
  /** Counts calls with this method and a path that matches. */
  count(match?: { method?: string; path?: RegExp }): number;
  clear(): void;
};

const ENTRIES_MAX = 100_000;

export function createCallLog(clock: Clock): CallLog {
  const entries: Call[] = [];
  return {
    entries,
    record: ({ method, path, query }, outcome) => {
      if (entries.length >= ENTRIES_MAX) entries.splice(0, ENTRIES_MAX / 2);
      entries.push({ at: clock.now(), method, path, query: query.toString(), ...outcome });
    },
    count: ({ method, path } = {}) =>
      entries.filter(
        (call) => (!method || call.method === method) && (!path || path.test(call.path)),
      ).length,
    clear: () => {
      entries.length = 0;
    },
  };
}
