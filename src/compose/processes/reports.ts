/** What the service as a whole says: all processes are asked, and what they say is combined. */
import type { CheckResult } from '#http/routes/operations/readiness.ts';
import { type Clock, SECOND } from '#shared/clock.ts';
import { Gauge, type Registry } from 'prom-client';

import {
  combineReadiness,
  countsOf,
  mergeCounts,
  type ProcessMetrics,
  renderMetrics,
} from './combine.ts';
import type { Member } from './member.ts';
import type { OwnReport, Topic, WholeReport } from './messages.ts';

/** A check takes 2 s at most; who says nothing for so long hangs. */
const REPORT_WAIT_MS = 3 * SECOND;

export type ReportsDeps = {
  /** How many are to serve. */
  size: number;
  members: () => readonly Member[];
  /** The measurements of the primary process. */
  registry: Registry;
  clock: Pick<Clock, 'sleep'>;
};

export type Reports = {
  whole(topic: Topic): Promise<WholeReport[Topic]>;
  /**
   * Goes on counting what this process has counted, as far as it was seen: from the call on, so that it
   * may leave `members` in the same moment.
   */
  remember(ended: Member): Promise<void>;
};

/** @see Reports */
export function createReports(deps: ReportsDeps): Reports {
  const past = createPast();
  void new Gauge({
    name: 'trackport_processes',
    help: 'Processes that serve; absent when there is but one.',
    registers: [deps.registry],
    collect() {
      this.set(serving(deps).length);
    },
  });
  const metrics = async (): Promise<string> => {
    await Promise.all(
      serving(deps).map(async (member) => {
        member.lastMetrics = (await askInTime(deps, member, 'metrics')) ?? member.lastMetrics;
      }),
    );
    const own = await deps.registry.getMetricsAsJSON();
    const members = deps.members().map(({ lastMetrics }) => lastMetrics);
    return renderMetrics([own, ...past.counts(), ...members]);
  };
  return {
    whole: async (topic) => {
      if (topic === 'metrics') return metrics();
      return topic === 'readiness' ? readiness(deps) : isHealthy(deps);
    },
    remember: ({ lastMetrics }) => past.add(lastMetrics),
  };
}

/** What processes that have ended had counted. */
function createPast() {
  let counts: readonly ProcessMetrics[] = [];
  let merging = Promise.resolve();
  const merge = async (): Promise<void> => {
    const merged = counts;
    counts = [await mergeCounts(merged), ...counts.slice(merged.length)];
  };
  return {
    counts: () => counts,
    /** Resolves when it is one with what was there before, so that nothing grows with every end. */
    add: (metrics: ProcessMetrics): Promise<void> => {
      counts = [...counts, countsOf(metrics)];
      merging = merging.then(merge);
      return merging;
    },
  };
}

async function isHealthy(deps: ReportsDeps): Promise<boolean> {
  const said = await Promise.all(
    serving(deps).map((member) => askInTime(deps, member, 'isHealthy')),
  );
  return said.every((isHealthy) => isHealthy === true);
}

async function readiness(deps: ReportsDeps): Promise<WholeReport['readiness']> {
  const listening = serving(deps);
  const said = await Promise.all(listening.map((member) => askInTime(deps, member, 'readiness')));
  const known = said.filter((report) => report !== undefined);
  const { isStopping, checks } = combineReadiness(known);
  return { isStopping, checks: { ...checks, processes: processesCheck(deps, known.length) } };
}

function processesCheck({ size }: ReportsDeps, known: number): CheckResult {
  const state = known < size ? 'incomplete' : 'ok';
  return { isReady: known > 0, state, detail: `${known} of ${size} processes serve.` };
}

const serving = ({ members }: ReportsDeps): Member[] =>
  members().filter((member) => member.isListening());

/** Undefined from a process that hangs, or ends. */
async function askInTime<Named extends Topic>(
  { clock }: ReportsDeps,
  member: Member,
  topic: Named,
): Promise<OwnReport[Named] | undefined> {
  const done = new AbortController();
  const late = clock
    .sleep(REPORT_WAIT_MS, { signal: done.signal, unref: true })
    .catch(() => undefined);
  const ended = member.ended.then(() => undefined);
  const report = await Promise.race([member.ask(topic), late, ended]);
  done.abort(new Error('the process has said something'));
  return report ?? undefined;
}
