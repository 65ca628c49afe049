import { Gauge, type Registry } from 'prom-client';
import type { BodyBudget } from '../requests/body-budget.ts';
import { createDurationHistogram, type Observe } from './duration-histogram.ts';
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
