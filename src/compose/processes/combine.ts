/** What several processes say of themselves, made into what the service says of itself. */
import { AggregatorRegistry } from 'prom-client';

import type { CheckResult, Readiness } from '#http/routes/operations/readiness.ts';

/**
 * Which of several states of one check is shown: the first of these. For the worker and the directory
 * that is the process that works, for everything else the one that is worst off.
 */
const SHOWN_FIRST = [
  'unavailable',
  'failing',
  'exhausted',
  'paused',
  'lacking',
  'complete',
  'crawling',
  'starting',
  'ok',
  'standby',
  'unknown',
];

/** The readiness of all of them: stopping when one of them is, not ready when one of them is not. */
export function combineReadiness(all: readonly Readiness[]): Readiness {
  const names = new Set(all.flatMap(({ checks }) => Object.keys(checks)));
  const checks = [...names].map((name) => [
    name,
    all.flatMap((one) => one.checks[name] ?? []).reduce(shownOf),
  ]);
  return {
    isStopping: all.some(({ isStopping }) => isStopping),
    checks: Object.fromEntries(checks) as Record<string, CheckResult>,
  };
}

function shownOf(left: CheckResult, right: CheckResult): CheckResult {
  if (left.isReady !== right.isReady) return left.isReady ? right : left;
  return rankOf(right) < rankOf(left) ? right : left;
}

function rankOf({ state }: CheckResult): number {
  const rank = SHOWN_FIRST.indexOf(state);
  return rank === -1 ? SHOWN_FIRST.length : rank;
}

/** The metrics of one process, as `Registry.getMetricsAsJSON` gives them. */
export type ProcessMetrics = readonly object[];

/** One text of all metrics, each combined by its `aggregator`. */
export function renderMetrics(all: readonly ProcessMetrics[]): Promise<string> {
  return aggregate(all).metrics();
}

/**
 * What goes on counting of a process that has ended: without it a sum would fall when one of them
 * does, which Prometheus takes for a restart of everything.
 */
export function countsOf(metrics: ProcessMetrics): ProcessMetrics {
  return metrics.filter(
    (metric) => 'type' in metric && ['counter', 'histogram'].includes(String(metric.type)),
  );
}

/** The counts of several, as those of one. */
export function mergeCounts(all: readonly ProcessMetrics[]): Promise<ProcessMetrics> {
  return aggregate(all).getMetricsAsJSON();
}

const aggregate = (all: readonly ProcessMetrics[]) =>
  AggregatorRegistry.aggregate(all.map((metrics) => [...metrics]));
