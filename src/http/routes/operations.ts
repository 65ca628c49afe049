import { prometheusContentType, type Registry } from 'prom-client';
import { type Clock, sleepUntilAborted } from '#shared/clock.ts';
import { isTrackportError } from '#shared/errors.ts';
import { errorFields, type Log } from '#shared/log.ts';
import type { PartState } from '#shared/outcomes/health.ts';
import { COMMIT, VERSION } from '#shared/program.ts';
import type { HttpApp } from '../context.ts';

export const operationPaths = {
  health: '/healthz',
  readiness: '/readyz',
  metrics: '/metrics',
} as const;

/** One part of the service as it reports itself. */
export type PartReport = {
  state: PartState;
  /** For the operator; public, so without secrets and personal data. */
  detail?: string;
};

/**
 * Runs on every request for `/readyz`. A part that reports is ready, however impaired; one that throws or takes
 * longer than 2 s is not. The check `store` alone takes the instance out of service. The `detail` of a `TrackportError` is shown.
 */
export type HealthCheck = () => Promise<PartReport> | PartReport;

export type CheckResult = PartReport & { isReady: boolean };

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
  clock: Clock;
  log: Log;
};

/** `/healthz` (the process), `/readyz` (may requests come here?) and `/metrics`. */
export function operationRoutes(app: HttpApp, reports: ServiceReports): void {
  const options = { config: { isOperation: true }, schema: { hide: true } } as const;
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('cache-control', 'no-store');
    done();
  });
  app.get(operationPaths.health, options, async (_request, reply) =>
    reply.send({ status: 'ok', version: VERSION, commit: COMMIT }),
  );
  app.get(operationPaths.readiness, options, async (_request, reply) => {
    const { isStopping, checks } = await reports.readiness();
    const isReady = !isStopping && checks['store']?.isReady !== false;
    const status = isStopping ? 'stopping' : isReady ? 'ready' : 'not-ready';
    return reply
      .code(isReady ? 200 : 503)
      .send({ status, checks: Object.fromEntries(Object.entries(checks).map(toPublic)) });
  });
  app.get(operationPaths.metrics, options, async (_request, reply) =>
    reply.header('content-type', prometheusContentType).send(await reports.metrics()),
  );
}

function toPublic([name, { state, detail }]: [name: string, result: CheckResult]) {
  return [name, { state, detail }] as const;
}

export function createServiceReports(sources: ReportSources): ServiceReports {
  return {
    readiness: async () => {
      const results = Object.entries(sources.checks()).map(
        async ([name, check]) => [name, await runCheck(sources, name, check)] as const,
      );
      const checks = Object.fromEntries(await Promise.all(results));
      return { isStopping: sources.isStopping(), checks };
    },
    metrics: () => sources.metrics.metrics(),
  };
}

const CHECK_TIMEOUT_MS = 2000;

/** Never rejects. */
async function runCheck(
  { clock, log }: ReportSources,
  name: string,
  check: HealthCheck,
): Promise<CheckResult> {
  const done = new AbortController();
  const tooSlow = sleepUntilAborted(clock, CHECK_TIMEOUT_MS, done.signal).then((): CheckResult => ({
    isReady: false,
    state: 'unavailable',
    detail: 'No answer in 2 s.',
  }));
  const reported = async (): Promise<CheckResult> => ({ isReady: true, ...(await check()) });
  try {
    return await Promise.race([reported(), tooSlow]);
  } catch (error) {
    log.warn({ check: name, ...errorFields(error) }, 'a health check failed');
    const detail = isTrackportError(error) ? error.detail : undefined;
    return { isReady: false, state: 'unavailable', detail };
  } finally {
    done.abort();
  }
}
