import { type HealthCheck, runChecks } from '#http/routes/operations/readiness.ts';
import type { OperationsDeps } from '#http/routes/operations/routes.ts';
import type { PagesContext } from '#portal/pages/context.ts';
import type { Clock } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';
import type { Registry } from 'prom-client';

export type ReadinessParts = {
  together?: OperationsDeps['together'];
  registry: Registry;
  clock: Clock;
  log: Log;
};

/**
 * What `/readyz` says, where several processes serve together that of all of them. They learn how this
 * one is from the same function; the routes of `/readyz`, made later, put theirs in its place.
 */
export function composeReadiness(
  { together, registry, clock, log }: ReadinessParts,
  checks: () => readonly HealthCheck[],
): PagesContext['readiness'] {
  const own: PagesContext['readiness'] = async () => ({
    checks: await runChecks({ clock, log }, checks()),
  });
  if (!together) return own;
  const whole = together({
    readiness: async () => ({ isStopping: false, ...(await own()) }),
    metrics: () => registry.getMetricsAsJSON(),
  });
  return () => whole.readiness();
}
