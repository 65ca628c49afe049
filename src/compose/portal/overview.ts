import type { Access } from '#access/index.ts';
import type { Config } from '#config/schema/schema.ts';
import type { FixedConfig } from '#config/take-over.ts';
import { type HealthCheck, runChecks } from '#http/routes/operations/readiness.ts';
import type { OperationsDeps } from '#http/routes/operations/routes.ts';
import type { Partners } from '#partners/index.ts';
import type { Traffic } from '#partners/traffic/traffic.ts';
import type { OverviewDeps } from '#portal/pages/overview/routes.ts';
import type { Clock } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';
import type { Reloadable } from '#shared/reloadable.ts';
import type { Registry } from 'prom-client';

import type { TrackerParts } from '../tracker/parts.ts';

export type OverviewParts = {
  config: { server: Pick<FixedConfig['server'], 'opsPort'> };
  settings: Reloadable<Pick<Config, 'tracker'>>;
  /** Those of `/readyz`. */
  checks: () => readonly HealthCheck[];
  together?: OperationsDeps['together'];
  registry: Registry;
  tracker: Pick<TrackerParts, 'leadTracker' | 'lastFailure' | 'clock'>;
  partners: Partners;
  access: Access;
  traffic: Pick<Traffic, 'read'>;
  publicUrl: () => string;
  clock: Clock;
  log: Log;
};

/** What the portal's first page asks of the service. */
export function composeOverview(parts: OverviewParts): OverviewDeps {
  const { config, settings, tracker, partners, access, traffic, publicUrl } = parts;
  return {
    readiness: composeReadiness(parts),
    hasReadyz: config.server.opsPort === undefined,
    tracker: {
      quota: () => tracker.leadTracker.quota(),
      lastFailure: () => tracker.lastFailure(),
      hasWebhookSecret: () => settings.current().tracker.webhookSecrets.length > 0,
    },
    partners,
    access,
    traffic,
    publicUrl,
    clock: tracker.clock,
  };
}

/**
 * What `/readyz` says, where several processes serve together that of all of them. They learn how this
 * one is from the same function; the routes of `/readyz`, made later, put theirs in its place.
 */
function composeReadiness({ checks, together, registry, clock, log }: OverviewParts) {
  const own: OverviewDeps['readiness'] = async () => ({
    checks: await runChecks({ clock, log }, checks()),
  });
  if (!together) return own;
  const whole = together({
    readiness: async () => ({ isStopping: false, ...(await own()) }),
    metrics: () => registry.getMetricsAsJSON(),
  });
  return () => whole.readiness();
}
