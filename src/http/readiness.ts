import type { Registry } from 'prom-client';
import { type Clock, sleepUntilAborted } from '#shared/clock.ts';
import { isTrackportError } from '#shared/errors.ts';
import type { PartState } from '#shared/outcomes/health.ts';
import { errorFields, type Log } from '#shared/log.ts';

/** One part of the service as it reports itself. */
export type CheckResult = {
  /** False takes the instance out of service; a part that is merely impaired says true. */
  isReady: boolean;
  state: PartState;
  /** For the operator; public, so without secrets and personal data. */
  detail?: string;
};

/**
 * Runs on every request for `/readyz`. What throws or takes longer than 2 s is not ready; the `detail`
 * of a `TrackportError` is shown.
 */
export type HealthCheck = () => Promise<CheckResult> | CheckResult;

export type Readiness = {
  isStopping: boolean;
  /** By the names of the checks. */
  checks: Record<string, CheckResult>;
};

/** Reports of the service on itself. */
export type ServiceReports = {
  readiness: () => Promise<Readiness>;
  /** In the text format of Prometheus. */
  metrics: () => Promise<string>;
};

export type ReportSources = {
  metrics: Registry;
  /** Those that concern the configuration in force, by their names in the body, such as `store`. */
  checks: () => Readonly<Record<string, HealthCheck>>;
  /** True from the first stop signal on. */
  isStopping: () => boolean;
};

export function createServiceReports(
  deps: { clock: Clock; log: Log },
  { metrics, checks, isStopping }: ReportSources,
): ServiceReports {
  return {
    readiness: async () => {
      const results = await runChecks(deps, checks());
      return { isStopping: isStopping(), checks: results };
    },
    metrics: () => metrics.metrics(),
  };
}

const CHECK_TIMEOUT_MS = 2000;

/** Runs all checks beside each other, each for at most 2 s; never rejects. */
async function runChecks(
  deps: { clock: Clock; log: Log },
  checks: Readonly<Record<string, HealthCheck>>,
): Promise<Readiness['checks']> {
  const results = Object.entries(checks).map(
    async ([name, check]) => [name, await runCheck(deps, name, check)] as const,
  );
  return Object.fromEntries(await Promise.all(results));
}

async function runCheck(
  { clock, log }: { clock: Clock; log: Log },
  name: string,
  check: HealthCheck,
): Promise<CheckResult> {
  const done = new AbortController();
  const tooSlow = sleepUntilAborted(clock, CHECK_TIMEOUT_MS, done.signal).then((): CheckResult => ({
    isReady: false,
    state: 'unavailable',
    detail: 'No answer in 2 s.',
  }));
  try {
    return await Promise.race([check(), tooSlow]);
  } catch (error) {
    log.warn({ check: name, ...errorFields(error) }, 'a health check failed');
    const detail = isTrackportError(error) ? error.detail : undefined;
    return { isReady: false, state: 'unavailable', detail };
  } finally {
    done.abort();
  }
}
