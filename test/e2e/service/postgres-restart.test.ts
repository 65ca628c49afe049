/** PostgreSQL goes away below a running service, and comes back. */
import { createHmac } from 'node:crypto';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startPostgres } from '../../support/postgres/server.ts';
import { createWorld, leadBody, serve } from '../support/world.ts';

const PARTNER_SECRET = 'a-partner-secret-of-this-test';
const PATIENCE = { timeout: 60_000, interval: 50 };

const settings = {
  partners: { 'crm-one': { scheme: 'hmac-sha256', secrets: [PARTNER_SECRET] } },
  secretKey: Buffer.alloc(32, 9).toString('base64'),
};

function deleteLead(url: string, number: number): Promise<Response> {
  const body = JSON.stringify({ eventId: `of-${number}`, leadId: String(number) });
  const digest = createHmac('sha256', PARTNER_SECRET).update(body).digest('hex');
  return fetch(`${url}/api/v1/webhooks/partners/crm-one/deletions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-partner-signature': `sha256=${digest}` },
    body,
  });
}

test('meanwhile all is 503 with Retry-After; then the service goes on by itself', async () => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const { tracker, config, key } = await createWorld({ ...settings, store: { url: server.url } });
  const { number } = tracker.createIssue({
    title: 'Lead',
    body: leadBody('a@example.org'),
    labels: ['approved'],
  });
  const { url } = await serve(config);
  const readLeads = () => fetch(`${url}/api/v1/leads`, { headers: { 'x-api-key': key } });
  expect((await readLeads()).status).toBe(200);

  await server.halt();
  for (const answer of [await readLeads(), await deleteLead(url, number)]) {
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await answer.json()).toMatchObject({ code: 'store-unavailable' });
  }
  expect((await fetch(`${url}/readyz`)).status).toBe(503);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);

  await server.start();
  await vi.waitFor(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200), PATIENCE);
  expect((await deleteLead(url, number)).status).toBe(202);
  const { items } = (await (await readLeads()).json()) as { items: unknown[] };
  expect(items).toEqual([]);
  await vi.waitFor(() => expect(tracker.readIssue(number)?.state).toBe('closed'), PATIENCE);
}, 180_000);
