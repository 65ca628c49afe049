import { COMMIT, VERSION } from '#shared/program.ts';
import type { HttpApp, HttpContext } from '../../http-app.ts';
import {
  type CheckResult,
  type Operations,
  type Readiness,
  runChecks,
  type Whole,
} from './readiness.ts';

/** `/healthz` (the process), `/readyz` (may requests come here?) and `/metrics`. */
export function operationRoutes(app: HttpApp, context: Context, operations: Operations): void {
  const options = { config: { isOperation: true }, schema: { hide: true } } as const;
  let isClosing = false;
  app.addHook('preClose', (done) => {
    isClosing = true;
    done();
  });
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('cache-control', 'no-store');
    done();
  });
  const whole = createWhole(context, {
    ...operations,
    isStopping: () => isClosing || operations.isStopping(),
  });
  app.get('/healthz', options, async (_request, reply) => {
    const isHealthy = await whole.isHealthy();
    const status = isHealthy ? 'ok' : 'failing';
    return reply.code(isHealthy ? 200 : 503).send({ status, version: VERSION, commit: COMMIT });
  });
  app.get('/readyz', options, async (_request, reply) => {
    const { isStopping, checks } = await whole.readiness();
    const isReady = !isStopping && Object.values(checks).every((result) => result.isReady);
    const status = isStopping ? 'stopping' : isReady ? 'ready' : 'not-ready';
    return reply
      .code(isReady ? 200 : 503)
      .send({ status, checks: Object.fromEntries(Object.entries(checks).map(toPublic)) });
  });
  app.get('/metrics', options, async (_request, reply) =>
    reply.header('content-type', operations.metrics.contentType).send(await whole.metrics()),
  );
}

type Context = Pick<HttpContext, 'clock' | 'log'>;

/** What the service as a whole says: this process alone, or all that serve together. */
export function createWhole(
  context: Context,
  { metrics, checks, isStopping, together }: Operations,
): Whole {
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
