import { Registry } from 'prom-client';
import { afterEach, expect, test } from 'vitest';
import { createOperationsServer } from '#http/server.ts';
import type { HttpApp } from '#http/context.ts';
import type { HealthCheck } from '#http/routes/operations.ts';
import { createFakeClock } from '../../support/clock.ts';
import { buildTestApp, serverDeps, serviceReports } from '../../support/http/app.ts';
import { fakeLeads, withKey } from '../../support/http/leads.ts';

let app: HttpApp;
afterEach(() => app.close());

const ok: HealthCheck = () => ({ state: 'ok' });

test('is alive while the process is, whatever the checks say', async () => {
  const down: HealthCheck = () => Promise.reject(new Error('down'));
  app = buildTestApp({ operations: serviceReports({ checks: () => ({ store: down }) }) });
  const response = await app.inject('/healthz');
  expect(response.statusCode).toBe(200);
  expect(response.json()).toEqual({ status: 'ok', version: expect.any(String), commit: 'source' });
});

test('an impaired part shows and leaves the instance ready', async () => {
  const paused: HealthCheck = () => ({
    state: 'paused',
    detail: 'The token lacks a permission.',
  });
  app = buildTestApp({
    operations: serviceReports({ checks: () => ({ store: ok, worker: paused }) }),
  });
  const response = await app.inject('/readyz');
  expect(response.statusCode).toBe(200);
  expect(response.json()).toEqual({
    status: 'ready',
    checks: {
      store: { state: 'ok' },
      worker: { state: 'paused', detail: 'The token lacks a permission.' },
    },
  });
});

test('a part that fails makes the instance not ready and says nothing internal', async () => {
  const broken: HealthCheck = () => Promise.reject(new Error('SQLITE_IOERR /srv/secret'));
  app = buildTestApp({ operations: serviceReports({ checks: () => ({ store: broken }) }) });
  const response = await app.inject('/readyz');
  expect(response.statusCode).toBe(503);
  expect(response.json()).toEqual({
    status: 'not-ready',
    checks: { store: { state: 'unavailable' } },
  });
});

test('a part that nobody needs for a response leaves the instance ready when it fails', async () => {
  const broken: HealthCheck = () => Promise.reject(new Error('counting took too long'));
  app = buildTestApp({
    operations: serviceReports({ checks: () => ({ store: ok, worker: broken }) }),
  });
  const response = await app.inject('/readyz');
  expect(response.statusCode).toBe(200);
  expect(response.json().checks.worker).toEqual({ state: 'unavailable' });
});

test('a part that hangs is not ready after two seconds', async () => {
  const clock = createFakeClock();
  const received = Promise.withResolvers<void>();
  const hanging: HealthCheck = () => {
    received.resolve();
    return new Promise(() => undefined);
  };
  app = buildTestApp({
    clock,
    operations: serviceReports({ checks: () => ({ store: hanging }), clock }),
  });
  const pending = app.inject('/readyz');
  await received.promise;
  await clock.advance(2000);
  expect((await pending).statusCode).toBe(503);
});

test('a stopping instance says so', async () => {
  app = buildTestApp({ operations: serviceReports({ isStopping: () => true }) });
  const response = await app.inject('/readyz');
  expect(response.statusCode).toBe(503);
  expect(response.json().status).toBe('stopping');
});

test('metrics count responses by route template, never by address', async () => {
  const metrics = new Registry();
  app = buildTestApp({ metrics, ...fakeLeads(), operations: serviceReports({ metrics }) });
  await app.inject({ url: '/api/v1/leads/7', headers: withKey });
  await app.inject('/nowhere/ada@example.com');
  const response = await app.inject('/metrics');
  expect(response.headers['content-type']).toContain('text/plain');
  expect(response.body).toContain(
    'trackport_http_request_duration_seconds_count{method="GET",route="/api/v1/leads/:leadId",status="200"} 1',
  );
  expect(response.body).toContain('route="unknown",status="404"} 1');
  expect(response.body).not.toContain('ada@example.com');
});

test('a port of its own serves these three and nothing else', async () => {
  app = createOperationsServer(serverDeps(), serviceReports());
  for (const url of ['/healthz', '/readyz', '/metrics'])
    expect((await app.inject(url)).statusCode).toBe(200);
  for (const url of ['/api/v1/leads', '/docs', '/openapi.json']) {
    const response = await app.inject(url);
    expect(response.statusCode).toBe(404);
    expect(response.json().code).toBe('not-found');
  }
});
