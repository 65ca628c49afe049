import type { TrackerExchange } from '#adapters/github/transport/wire.ts';
import type { TracingChoice } from '#config/tracing.ts';
import type { Clock } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';
import type { ReleaseStack } from '#shared/resilience/release-stack.ts';
import type { Tracing } from '#shared/tracing.ts';

export type OpenTracingDeps = { tracing?: TracingChoice; clock: Clock; log: Log };

/** Undefined where traces are off: then no package of OpenTelemetry's SDK is loaded. */
export async function openTracing(
  { tracing: { settings, unsupported } = {}, clock, log }: OpenTracingDeps,
  held: ReleaseStack,
): Promise<Tracing | undefined> {
  if (unsupported !== undefined)
    log.warn({ variable: unsupported }, 'traces are off: the value is not supported');
  if (!settings) return undefined;
  const { createTracing } = await import('./tracing.ts');
  const tracing = createTracing({ settings, clock, log });
  held.push('the traces', () => tracing.close());
  return tracing;
}

/** Makes a span of every call to the tracker, by its route's template, below what asked for it. */
export function traceTrackerCalls(
  tracing: Tracing,
  observe: (call: TrackerExchange) => void,
): (call: TrackerExchange) => void {
  return (call) => {
    observe(call);
    const { route, status, failure, isBilled, durationMs } = call;
    const [method = '', template = ''] = route.split(' ');
    const span = tracing.start(route, {
      kind: 'client',
      startedAgoMs: durationMs,
      attributes: {
        'http.request.method': method,
        'url.template': template,
        'trackport.is_billed': isBilled,
        ...(status !== undefined && { 'http.response.status_code': status }),
      },
    });
    span.end(failure ?? (status !== undefined && status >= 400 ? String(status) : undefined));
  };
}
