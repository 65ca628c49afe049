import { METHODS } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import type { HttpApp } from '#http/context.ts';
import { buildTestApp, serviceReports, ignoringWebhook } from '../../support/http/app.ts';
import { fakeLeads } from '../../support/http/leads.ts';

const app: HttpApp = buildTestApp({
  ...fakeLeads(),
  trackerWebhook: ignoringWebhook,
  operations: serviceReports(),
});
afterAll(() => app.close());

const known = {
  '/api/v1/leads': ['GET', 'HEAD'],
  '/api/v1/leads/7': ['GET', 'HEAD'],
  '/api/v1/webhooks/github': ['POST'],
  '/healthz': ['GET', 'HEAD'],
  '/readyz': ['GET', 'HEAD'],
  '/metrics': ['GET', 'HEAD'],
  '/openapi.json': ['GET', 'HEAD'],
  '/docs': ['GET', 'HEAD'],
  '/docs/start.js': ['GET', 'HEAD'],
  '/docs/how-to/partner.md': ['GET', 'HEAD'],
  '/llms.txt': ['GET', 'HEAD'],
  '/problems/overloaded': ['GET', 'HEAD'],
};
const refused = Object.entries(known).flatMap(([url, allowed]) =>
  METHODS.filter((method) => method !== 'CONNECT' && !allowed.includes(method)).map(
    (method) => [method, url, allowed.join(', ')] as const,
  ),
);

test.each(refused)(
  '%s %s is 405 with Allow: %s, whatever else is wrong',
  async (method, url, allow) => {
    const response = await app.inject({ method: method as 'GET', url: `${url}?limit=0` });
    expect(response.statusCode).toBe(405);
    expect(response.headers.allow).toBe(allow);
    if (method !== 'HEAD') expect(response.json().code).toBe('method-not-allowed');
  },
);

test.each(['/api/v1/l%65ads', '/api/v1/leads/%37', '/%64ocs'])(
  '%s is the path that its letters say, for 405 as for answers',
  async (url) => {
    const response = await app.inject({ method: 'POST', url });
    expect([response.statusCode, response.headers.allow]).toEqual([405, 'GET, HEAD']);
  },
);

test('an escaped slash is none', async () => {
  const response = await app.inject({ method: 'POST', url: '/api/v1%2Fleads' });
  expect(response.statusCode).toBe(404);
});
