import type { Registry } from 'prom-client';
import type { Area, HttpContext } from '../../http-app.ts';
import { isTrackportError } from '#shared/errors.ts';
import { errorFields } from '#shared/log.ts';

/** What one part of the service says of itself. */
type CheckResult = {
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
    app.get('/healthz', options, async (_request, reply) =>
      reply.header('cache-control', 'no-store').send({ status: 'ok' }),
    );
    app.get('/readyz', options, async (_request, reply) => {
      const isStopping = isClosing || deps.isStopping();
      const checks = await Promise.all(deps.checks().map((check) => runCheck(context, check)));
      const isReady = !isStopping && checks.every(([, result]) => result.isReady);
      const status = isStopping ? 'stopping' : isReady ? 'ready' : 'not-ready';
      return reply
        .code(isReady ? 200 : 503)
        .header('cache-control', 'no-store')
        .send({ status, checks: Object.fromEntries(checks.map(toPublic)) });
    });
    app.get('/metrics', options, async (_request, reply) =>
      reply
        .header('cache-control', 'no-store')
        .header('content-type', deps.metrics.contentType)
        .send(await deps.metrics.metrics()),
    );
  };
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
