/** Readers of each version, as the whole service keeps them. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { startIssuer } from '#sandbox/issuer/issuer.ts';
import { createFakeClock } from '../../support/clock.ts';
import { freePort } from '../../support/free-port.ts';
import { connectTo } from '../../support/stores.ts';
import { compose } from '../support/world.ts';

vi.setConfig({ testTimeout: 60_000 });

test('a read that was answered is in the store once the service has stopped', async () => {
  const issuer = await startIssuer();
  onTestFinished(() => issuer.close());
  const clock = { ...createFakeClock(), now: () => Date.now() };
  const { service, url, storePath } = await compose({
    apiUrl: `http://127.0.0.1:${await freePort()}`,
    clock,
    settings: { identity: { issuer: issuer.url, audience: issuer.audience } },
  });
  const { clientId, clientSecret } = issuer.machine;
  const given = await fetch(issuer.tokenEndpoint, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: issuer.scopes }),
  });
  const { access_token: token } = (await given.json()) as { access_token: string };
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const at = (path: string): string => `${url}/api/v1/catalog${path}`;
  const body = JSON.stringify({ id: 'orders', type: 'API', owner: 'team', title: 'Orders' });
  expect((await fetch(at(''), { method: 'POST', headers, body })).status).toBe(201);
  for (const path of ['/orders?version=1.0.0', '/orders?version=1.0.0'])
    expect((await fetch(at(path), { headers })).status).toBe(200);
  const stopped = service.stop().then(() => true);
  for (let isStopped = false; !isStopped;)
    isStopped = await Promise.race([stopped, clock.advance(20).then(() => false)]);
  const rows = await connectTo(storePath).all('SELECT reader_id, reads FROM catalog_usage');
  expect(rows).toEqual([{ readerId: clientId, reads: 2 }]);
});
