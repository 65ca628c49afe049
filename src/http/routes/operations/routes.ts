import { COMMIT, VERSION } from '#shared/program.ts';
import type { Registry } from 'prom-client';
import type { Area, HttpContext } from '../../http-app.ts';
import { type CheckResult, type HealthCheck, type Readiness, runChecks } from './readiness.ts';

export type OperationsDeps = {
  metrics: Registry;
  /** Those that concern the configuration in force. */
  checks: () => readonly HealthCheck[];
  /** True from the first stop signal on. */
  isStopping: () => boolean;
  /** Where several processes serve together: what all of them say. Default: this one speaks for itself. */
  together?: (own: OwnReports) => Whole;
};

/** What one process says of itself. */
export type OwnReports = {
  readiness: () => Promise<Readiness>;
  /** As `Registry.getMetricsAsJSON` gives them. */
  metrics: () => Promise<object[]>;
};

/** What the service as a whole says, whichever of its processes is asked. */
export type Whole = {
  isHealthy: () => Promise<boolean>;
  readiness: () => Promise<Readiness>;
  /** In the text format of Prometheus. */
  metrics: () => Promise<string>;
};

/** `/healthz` (the process), `/readyz` (may requests come here?) and `/metrics`. */
export function operationRoutes(context: HttpContext, deps: OperationsDeps): Area {
  const options = { config: { isOperation: true }, schema: { hide: true } } as const;
  return (app) => {
    let isClosing = false;
    app.addHook('preClose', (done) => {
      isClosing = true;
      done();
    });
    const whole = createWhole(context, {
      ...deps,
      isStopping: () => isClosing || deps.isStopping(),
    });
    app.get('/healthz', options, async (_request, reply) => {
      const isHealthy = await whole.isHealthy();
      return reply
        .code(isHealthy ? 200 : 503)
        .header('cache-control', 'no-store')
        .send({ status: isHealthy ? 'ok' : 'failing', version: VERSION, commit: COMMIT });
    });
    app.get('/readyz', options, async (_request, reply) => {
      const { isStopping, checks } = await whole.readiness();
      const isReady = !isStopping && Object.values(checks).every((result) => result.isReady);
      const status = isStopping ? 'stopping' : isReady ? 'ready' : 'not-ready';
      return reply
        .code(isReady ? 200 : 503)
        .header('cache-control', 'no-store')
        .send({ status, checks: Object.fromEntries(Object.entries(checks).map(toPublic)) });
    });
    app.get('/metrics', options, async (_request, reply) =>
      reply
        .header('cache-control', 'no-store')
        .header('content-type', deps.metrics.contentType)
        .send(await whole.metrics()),
    );
  };
}

function createWhole(context: HttpContext, deps: OperationsDeps): Whole {
  const { metrics, checks, isStopping, together } = deps;
  const readiness = async (): Promise<Readiness> => {
    const results = await runChecks(context, checks());
    return { isStopping: isStopping(), checks: results };
  };
  return together
    ? together({ readiness, metrics: () => metrics.getMetricsAsJSON() })
    : { isHealthy: () => Promise.resolve(true), readiness, metrics: () => metrics.metrics() };
}

function toPublic([name, { state, detail }]: [name: string, result: CheckResult]) {
  return [name, { state, detail }] as const;
}
