import type { Registry } from 'prom-client';
import type { Area, HttpContext } from '../../http-app.ts';
import { isTrackportError } from '#shared/errors.ts';
import { errorFields } from '#shared/log.ts';

/** What one part of the service says of itself. */
export type CheckResult = {
  /** False takes the instance out of service; a part that is merely impaired says true. */
  isReady: boolean;
  /** One word: `ok`, `paused`, `incomplete`, `unavailable`. */
  state: string;
  /** For the operator; public, so without secrets and personal data. */
  detail?: string;
};

export type HealthCheck = {
  /** The key in the body's `checks`, such as `store`. */
  name: string;
  /**
   * Runs on every request for `/readyz`. What throws or takes longer than 2 s is not ready; the `detail`
   * of a `TrackportError` is shown.
   */
  check: () => Promise<CheckResult> | CheckResult;
};

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

export type Readiness = {
  isStopping: boolean;
  /** By the names of the checks. */
  checks: Record<string, CheckResult>;
};

/** What the service as a whole says, whichever of its processes is asked. */
export type Whole = {
  isHealthy: () => Promise<boolean>;
  readiness: () => Promise<Readiness>;
  /** In the text format of Prometheus. */
  metrics: () => Promise<string>;
};

const CHECK_TIMEOUT_MS = 2000;

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
        .send({ status: isHealthy ? 'ok' : 'failing' });
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
    const results = await Promise.all(checks().map((check) => runCheck(context, check)));
    return { isStopping: isStopping(), checks: Object.fromEntries(results) };
  };
  return together
    ? together({ readiness, metrics: () => metrics.getMetricsAsJSON() })
    : { isHealthy: () => Promise.resolve(true), readiness, metrics: () => metrics.metrics() };
}

type NamedResult = [name: string, result: CheckResult];

async function runCheck({ clock, log }: HttpContext, check: HealthCheck): Promise<NamedResult> {
  const giveUp = new AbortController();
  const tooSlow = clock
    .sleep(CHECK_TIMEOUT_MS, { signal: giveUp.signal, unref: true })
    .then((): CheckResult => ({
      isReady: false,
      state: 'unavailable',
      detail: 'No answer in 2 s.',
    }));
  tooSlow.catch(() => undefined);
  try {
    return [check.name, await Promise.race([check.check(), tooSlow])];
  } catch (error) {
    log.warn({ check: check.name, ...errorFields(error) }, 'a health check failed');
    const detail = isTrackportError(error) ? error.detail : undefined;
    const result = {
      isReady: false,
      state: 'unavailable',
      ...(detail !== undefined && { detail }),
    };
    return [check.name, result];
  } finally {
    giveUp.abort(new Error('the check is over'));
  }
}

function toPublic([name, { state, detail }]: NamedResult) {
  return [name, { state, ...(detail !== undefined && { detail }) }] as const;
}
