/** `/.well-known/api-catalog`: what anybody may find, and nothing else. @see RFC 9727 */
import { expect, test } from 'vitest';
import { catalogRules } from '../../../support/catalog.ts';
import { type Call, openWorld } from '../../../support/world.ts';
import { PUBLIC_URL } from '../../../support/http/app.ts';

const PATH = '/.well-known/api-catalog';
const ADDRESS = `${PUBLIC_URL}${PATH}`;

async function publish(call: Call, artifact: { id: string; title?: string }): Promise<void> {
  const body = { type: 'API', owner: 'team', title: artifact.id, ...artifact };
  expect((await call('POST', '', { body })).status).toBe(201);
  expect((await call('POST', `/${artifact.id}/publish`)).status).toBe(200);
}

/** Response to a caller without a credential. */
function openPublic(workspaces: readonly string[]) {
  const opened = openWorld({ catalog: { rules: () => ({ ...catalogRules, public: workspaces }) } });
  const get = (method: 'GET' | 'HEAD' = 'GET', headers = {}) =>
    opened.app.inject({ method, url: PATH, headers });
  return { ...opened, call: opened.callCatalog, get };
}

test('is not there while no workspace is public', async () => {
  const { call, get } = openPublic([]);
  await publish(call, { id: 'orders' });
  const response = await get();
  expect([response.statusCode, response.json().code]).toEqual([404, 'not-found']);
});

test('lists what is published now as a set of links, without a credential', async () => {
  const { call, get } = openPublic(['default']);
  await publish(call, { id: 'orders', title: 'Orders' });
  const body = { id: 'draft', type: 'API', owner: 'team', title: 'A draft' };
  expect((await call('POST', '', { body })).status).toBe(201);
  const response = await get();
  expect(response.statusCode).toBe(200);
  expect(response.headers['content-type']).toBe(
    'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
  );
  expect(response.headers['link']).toBe(`<${ADDRESS}>; rel="api-catalog"`);
  const href = `${PUBLIC_URL}/api/v1/catalog/orders`;
  expect(response.json()).toEqual({
    linkset: [{ anchor: ADDRESS, item: [{ href, type: 'application/json', title: 'Orders' }] }],
  });

  await publish(call, { id: 'invoices' });
  expect((await get()).json().linkset[0].item).toHaveLength(2);
  await call('POST', '/orders/deprecate');
  expect((await get()).json().linkset[0].item).toHaveLength(1);
});

test('HEAD has the link and no body, and who has it gets 304', async () => {
  const { call, get } = openPublic(['default']);
  await publish(call, { id: 'orders' });
  const head = await get('HEAD');
  expect([head.statusCode, head.body]).toEqual([200, '']);
  expect(head.headers['link']).toBe(`<${ADDRESS}>; rel="api-catalog"`);
  const again = await get('GET', { 'if-none-match': String(head.headers.etag) });
  expect(again.statusCode).toBe(304);
});

test('shows nothing of a workspace that is not named', async () => {
  const { call, get } = openPublic(['another']);
  await publish(call, { id: 'orders' });
  expect((await get()).json()).toEqual({ linkset: [{ anchor: ADDRESS, item: [] }] });
});
