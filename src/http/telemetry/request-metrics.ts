import { Gauge, Histogram, type Registry } from 'prom-client';
import type { BodyBudget } from '../requests/body-budget.ts';
import type { CompletedRequest } from './request-log.ts';

/** Measures every response by method, route template and status. */
export function createRequestMetrics(registry: Registry) {
  const durations = new Histogram({
    name: 'trackport_http_request_duration_seconds',
    help: 'Time from the first byte of the request to the last of the answer.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: [0.001, 0.005, 0.025, 0.1, 0.25, 1, 2.5, 10],
    registers: [registry],
  });
  return ({ request: { method }, reply, route }: CompletedRequest): void =>
    durations.observe({ method, route, status: reply.statusCode }, reply.elapsedTime / 1000);
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
