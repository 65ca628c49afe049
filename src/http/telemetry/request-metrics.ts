import { Gauge, type Metric, type Registry } from 'prom-client';
import type { BodyBudget } from '../requests/body-budget.ts';
import type { CompletedRequest } from './request-log.ts';

/** Measures every response by method, route template and status. */
export function createRequestMetrics(registry: Registry) {
  const durations = createDurationHistogram(registry, {
    name: 'trackport_http_request_duration_seconds',
    help: 'Time from the first byte of the request to the last of the answer.',
    bounds: [0.001, 0.005, 0.025, 0.1, 0.25, 1, 2.5, 10],
  });
  /** By route, method and status: names that are there already cost less than one made of them. */
  const series = new Map<string, Map<string, Map<number, Observe>>>();
  return ({ request: { method }, reply, route }: CompletedRequest): void => {
    const byMethod = getOrAdd(series, route, () => new Map<string, Map<number, Observe>>());
    const byStatus = getOrAdd(byMethod, method, () => new Map<number, Observe>());
    const observe = getOrAdd(byStatus, reply.statusCode, (status) =>
      durations.series({ method, route, status: String(status) }),
    );
    observe(reply.elapsedTime / 1000);
  };
}

function getOrAdd<Key, Value>(map: Map<Key, Value>, key: Key, make: (key: Key) => Value): Value {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make(key)));
  return value;
}

/** Shows what large bodies hold at the moment. */
export function measureBodies(registry: Registry, budget: Pick<BodyBudget, 'heldBytes'>): void {
  void new Gauge({
    name: 'trackport_http_large_bodies_bytes',
    help: 'Memory of request bodies over 64 KiB that are read or worked on.',
    registers: [registry],
    collect() {
      this.set(budget.heldBytes());
    },
  });
}

type Labels = Readonly<Record<string, string>>;

type Series = { labels: Labels; counts: number[]; sum: number; count: number };

/** Counts one duration, in seconds, into the series that it belongs to. */
type Observe = (seconds: number) => void;

type DurationHistogram = {
  /** The series of these labels. Hold on to it: finding it is what costs. */
  series(labels: Labels): Observe;
};

/**
 * A Prometheus histogram whose observation is two additions. prom-client's own joins and sorts the
 * labels at every observation, which cost a seventh of a hot read; rendering stays with it.
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/#histograms-and-summaries
 */
function createDurationHistogram(
  registry: Registry,
  { name, help, bounds }: { name: string; help: string; bounds: readonly number[] },
): DurationHistogram {
  const all: Series[] = [];
  const metric = {
    name,
    help,
    type: 'histogram',
    aggregator: 'sum',
    get: async () => ({
      name,
      help,
      type: 'histogram',
      aggregator: 'sum',
      values: all.flatMap((series) => samplesOf(name, bounds, series)),
    }),
    reset: () => {
      all.length = 0;
    },
  };
  registry.registerMetric(metric as unknown as Metric);
  return {
    series: (labels) => {
      const series: Series = { labels, counts: bounds.map(() => 0), sum: 0, count: 0 };
      all.push(series);
      return (seconds) => observe(series, bounds, seconds);
    },
  };
}

function observe(series: Series, bounds: readonly number[], seconds: number): void {
  const at = bounds.findIndex((bound) => seconds <= bound);
  if (at !== -1) series.counts[at] = (series.counts[at] ?? 0) + 1;
  series.sum += seconds;
  series.count += 1;
}

/** Buckets are cumulative, and `+Inf` holds them all. */
function samplesOf(name: string, bounds: readonly number[], series: Series) {
  const { labels, counts, sum, count } = series;
  let below = 0;
  const buckets = bounds.map((bound, at) => {
    below += counts[at] ?? 0;
    return { metricName: `${name}_bucket`, labels: { ...labels, le: bound }, value: below };
  });
  return [
    ...buckets,
    { metricName: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, value: count },
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
