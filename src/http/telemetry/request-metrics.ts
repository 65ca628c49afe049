import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { BodyBudget } from '../requests/body-budget.ts';
import { createDurationHistogram } from './duration-histogram.ts';
import type { Observe } from './duration-histogram.ts';
import type { CompletedRequest } from './request-log.ts';

/** Measures every response by method, route template and status. */
export function createRequestMetrics(registry: Registry) {
  const durations = createDurationHistogram(registry, {
    name: 'trackport_http_request_duration_seconds',
    help: 'Time from the first byte of the request to the last of the answer.',
    bounds: [0.001, 0.005, 0.025, 0.1, 0.25, 1, 2.5, 10],
  });
  const bound = new Map<string, Observe>();
  return ({ request, reply, route }: CompletedRequest): void => {
    const status = String(reply.statusCode);
    const key = `${request.method} ${status} ${route}`;
    let observe = bound.get(key);
    if (!observe) {
      observe = durations.series({ method: request.method, route, status });
      bound.set(key, observe);
    }
    observe(reply.elapsedTime / 1000);
  };
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
