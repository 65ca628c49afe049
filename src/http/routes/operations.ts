import { COMMIT, VERSION } from '#shared/program.ts';
import { prometheusContentType } from 'prom-client';
import type { HttpApp } from '../context.ts';
import type { CheckResult, ServiceReports } from '../readiness.ts';

export const operationPaths = {
  health: '/healthz',
  readiness: '/readyz',
  metrics: '/metrics',
} as const;

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
    const isReady = !isStopping && Object.values(checks).every((result) => result.isReady);
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
