/** What the service as a whole says: all processes are asked, and what they say is combined. */
import type { CheckResult, Readiness } from '#http/readiness.ts';
import { type Clock, SECOND, sleepUntilAborted } from '#shared/clock.ts';
import { AggregatorRegistry, type Registry } from 'prom-client';
import { gauge } from '../telemetry/metrics.ts';
import type { ChildCalls, IpcHandlers, PrimaryCalls, ProcessMetrics } from './ipc.ts';
import type { Member } from './pool.ts';

/** A check takes 2 s at most; who says nothing for so long hangs. */
const REPORT_WAIT_MS = 3 * SECOND;

export type ReportsDeps = {
  /** How many are to serve. */
  size: number;
  members: () => readonly Pick<Member, 'isListening' | 'call' | 'ended' | 'lastMetrics'>[];
  /** The measurements of the primary process. */
  registry: Registry;
  clock: Pick<Clock, 'sleep'>;
};

type Reporting = ReturnType<ReportsDeps['members']>[number];

export type Reports = {
  whole: IpcHandlers<PrimaryCalls>;
  /**
   * Goes on counting what this process has counted, as far as it was seen: from the call on, so that it
   * may leave `members` in the same moment.
   */
  remember(ended: Pick<Member, 'lastMetrics'>): Promise<void>;
};

/** @see Reports */
export function createReports(deps: ReportsDeps): Reports {
  const { clock, members, registry, size } = deps;
  const serving = () => members().filter((member) => member.isListening());
  gauge(registry, {
    name: 'trackport_processes',
    help: 'Processes that serve; absent when there is but one.',
    read: () => serving().length,
  });
  /** What processes that have ended had counted. */
  let past: readonly ProcessMetrics[] = [];
  let merging = Promise.resolve();
  /** So that nothing grows with every end. */
  const merge = async (): Promise<void> => {
    const merged = past;
    past = [await aggregate(merged).getMetricsAsJSON(), ...past.slice(merged.length)];
  };
  const whole: Reports['whole'] = {
    isHealthy: async () => {
      const said = await Promise.all(serving().map((one) => callInTime(clock, one, 'isHealthy')));
      return said.every((isHealthy) => isHealthy === true);
    },
    readiness: async () => {
      const said = await Promise.all(serving().map((one) => callInTime(clock, one, 'readiness')));
      const known = said.filter((report) => report !== undefined);
      const processes = processesCheck(known.length, size);
      const { isStopping, checks } = combineReadiness(known);
      return { isStopping, checks: { ...checks, processes } };
    },
    metrics: async () => {
      const note = async (one: Reporting): Promise<void> => {
        one.lastMetrics = (await callInTime(clock, one, 'metrics')) ?? one.lastMetrics;
      };
      await Promise.all(serving().map(note));
      const own = await registry.getMetricsAsJSON();
      return aggregate([own, ...past, ...members().map((one) => one.lastMetrics)]).metrics();
    },
  };
  return {
    whole,
    remember: ({ lastMetrics }) => {
      past = [...past, lastMetrics.filter(isCount)];
      merging = merging.then(merge);
      return merging;
    },
  };
}

/** One registry of all metrics, each combined by its `aggregator`. */
function aggregate(all: readonly ProcessMetrics[]) {
  return AggregatorRegistry.aggregate(all.map((metrics) => [...metrics]));
}

/** A sum would fall when a process ends, which Prometheus takes for a restart of everything. */
function isCount(metric: object): boolean {
  return 'type' in metric && ['counter', 'histogram'].includes(String(metric.type));
}

/** Undefined from a process that hangs, or ends. */
async function callInTime<Name extends keyof PrimaryCalls>(
  clock: ReportsDeps['clock'],
  { call, ended }: Reporting,
  name: Name,
): Promise<ChildCalls[Name] | undefined> {
  const done = new AbortController();
  const late = sleepUntilAborted(clock, REPORT_WAIT_MS, done.signal);
  const report = await Promise.race([call(name), late, ended.then(() => undefined)]);
  done.abort();
  return report ?? undefined;
}

function processesCheck(known: number, size: number): CheckResult {
  const state = known < size ? 'incomplete' : 'ok';
  return { isReady: known > 0, state, detail: `${known} of ${size} processes serve.` };
}

/**
 * Which of several states of one check is shown: the first of these. For the worker and the directory
 * that is the process that works, for everything else the one that is worst off.
 */
const SHOWN_FIRST =
  'unavailable failing exhausted paused lacking complete crawling starting ok standby unknown'.split(
    ' ',
  );

/** The readiness of all of them: stopping when one of them is, not ready when one of them is not. */
export function combineReadiness(all: readonly Readiness[]): Readiness {
  const checks: Record<string, CheckResult> = {};
  for (const [name, check] of all.flatMap((one) => Object.entries(one.checks)))
    checks[name] = checks[name] ? shownOf(checks[name], check) : check;
  return { isStopping: all.some(({ isStopping }) => isStopping), checks };
}

function shownOf(left: CheckResult, right: CheckResult): CheckResult {
  if (left.isReady !== right.isReady) return left.isReady ? right : left;
  return rankOf(right) < rankOf(left) ? right : left;
}

function rankOf({ state }: CheckResult): number {
  const rank = SHOWN_FIRST.indexOf(state);
  return rank === -1 ? SHOWN_FIRST.length : rank;
}
