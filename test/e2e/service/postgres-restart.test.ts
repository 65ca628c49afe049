/** PostgreSQL goes away below a running service, and comes back. */
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { startPostgres } from '../../support/postgres/server.ts';
import { runTrackport } from '../support/process.ts';
import { createWorld, openLead, sendDeletion, serve } from '../support/world.ts';

const settings = {
  secretKey: Buffer.alloc(32, 9).toString('base64'),
};

test('meanwhile all is 503 with Retry-After, and a start says what to do; then the service goes on by itself', async () => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const { tracker, config, key } = await createWorld({ ...settings, store: { url: server.url } });
  const { number } = openLead(tracker);
  const { url } = await serve(config);
  const readLeads = () => fetch(`${url}/api/v1/leads`, { headers: { 'x-api-key': key } });
  expect((await readLeads()).status).toBe(200);

  await server.halt();
  for (const answer of [await readLeads(), await sendDeletion(url, number)]) {
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await answer.json()).toMatchObject({ code: 'store-unavailable' });
  }
  expect((await fetch(`${url}/readyz`)).status).toBe(503);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  const args = ['serve', '--config', config, '--port', '0'];
  const { code, stderr } = await runTrackport(args);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^The store postgres:.* cannot be used.* Start the server, or change/);

  await server.start();
  await eventually(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200));
  expect((await sendDeletion(url, number)).status).toBe(202);
  const { items } = (await (await readLeads()).json()) as { items: unknown[] };
  expect(items).toEqual([]);
  await eventually(() => expect(tracker.readIssue(number)?.state).toBe('closed'));
}, 180_000);
