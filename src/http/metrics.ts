import { Histogram } from 'prom-client';
import type { Registry } from 'prom-client';
import type { Answered } from './request-log.ts';

type Observe = (seconds: number) => void;

/** Measures every answer by method, route template and status. */
export function createRequestMetrics(registry: Registry) {
  const durations = new Histogram({
    name: 'trackport_http_request_duration_seconds',
    help: 'Time from the first byte of the request to the last of the answer.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: [0.001, 0.005, 0.025, 0.1, 0.25, 1, 2.5, 10],
    registers: [registry],
  });
  const bound = new Map<string, Observe>();
  return ({ request, reply, route }: Answered): void => {
    const labels = {
      method: request.method,
      route,
      status: String(reply.statusCode),
    };
    const key = `${labels.method} ${labels.status} ${labels.route}`;
    let observe = bound.get(key);
    if (!observe) {
      const child = durations.labels(labels);
      observe = (seconds) => child.observe(seconds);
      bound.set(key, observe);
    }
    observe(reply.elapsedTime / 1000);
  };
}
