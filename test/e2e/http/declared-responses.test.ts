import { signedBy } from '../../support/signed-by.ts';
import { expect, test } from 'vitest';
import { type OpenDocument, operationsOf } from '../../support/http/openapi.ts';
import { ALL_SCOPES, type Ask, openSandbox, read, tokenOf } from '../support/sandbox-calls.ts';
import { eventually } from '../../support/eventually.ts';

const LEADS = '/api/v1/leads';
const ME = '/api/v1/me';
const RECEIPTS = '/api/v1/receipts';
const CONSUMERS = '/api/v1/consumers';
const CATALOG = '/api/v1/catalog';
const PARTNER = '/api/v1/webhooks/partners/{partnerId}';

async function askForLeads(ask: Ask, key: string) {
  const headers = { 'x-api-key': key };
  const first = await ask('GET', LEADS, { headers, query: '?limit=2' });
  const etag = first.headers.get('etag') ?? '';
  await ask('GET', LEADS, { headers: { ...headers, 'if-none-match': etag }, query: '?limit=2' });
  for (const query of ['?limit=0&state=no&x=1', '?cursor=x', '?since=2026-01-01&state=all'])
    await ask('GET', LEADS, { headers, query });
  for (const leadId of ['14', '13', '999'])
    await ask('GET', `${LEADS}/{leadId}`, { headers, at: [leadId] });
  for (const query of ['', '?x=1']) await ask('GET', ME, { headers, query });
}

async function askAsPartner(ask: Ask, secret: string) {
  const deletion = { eventType: 'lead.deletion', eventId: '7', leadId: '9' };
  const bodies = [
    deletion,
    deletion,
    [deletion, 3],
    [],
    '5',
    '{',
    Array.from({ length: 501 }, () => ({})),
  ];
  for (const path of ['deletions', 'events'])
    for (const given of bodies) {
      const body = typeof given === 'string' ? given : JSON.stringify(given);
      const headers = { ...signedBy('hmac-sha256', secret, { body }), 'x-correlation-id': 'c-1' };
      await ask('POST', `${PARTNER}/${path}`, { at: ['crm-one'], headers, body });
    }
  await ask('POST', '/api/v1/webhooks/github', { body: {} });
}

async function askForReceipts(ask: Ask, headers: Record<string, string>) {
  for (const query of ['', '?limit=1', '?outcome=REJECTED', '?outcome=no', '?cursor=x'])
    await ask('GET', RECEIPTS, { headers, query });
  const { text } = await ask('GET', RECEIPTS, { headers, query: '?partnerId=crm-one' });
  const { items } = JSON.parse(text) as { items: { id: string }[] };
  for (const id of [...items.map((receipt) => receipt.id), 'x']) {
    await ask('GET', `${RECEIPTS}/{id}`, { headers, at: [id] });
    await ask('POST', `${RECEIPTS}/{id}/replay`, { headers, at: [id] });
  }
  await ask('POST', `${RECEIPTS}/replay`, { headers });
}

async function askForConsumers(ask: Ask, headers: Record<string, string>) {
  const grants = [{ action: 'leads:read', labels: ['approved'] }];
  const created = await ask('POST', CONSUMERS, { headers, body: { name: 'A', grants } });
  const { id, key } = JSON.parse(created.text) as { id: string; key: string };
  const keyId = key.split('_')[1] ?? '';
  await ask('POST', CONSUMERS, { headers, body: { name: '', x: 1 } });
  const expiring = { name: 'Soon', grants, expires: '1h' };
  const soon = await ask('POST', CONSUMERS, { headers, body: expiring });
  await ask('POST', CONSUMERS, { headers, body: expiring });
  await askForLeads(ask, (JSON.parse(soon.text) as { key: string }).key);
  for (const query of ['', '?limit=1', '?limit=0']) await ask('GET', CONSUMERS, { headers, query });
  for (const at of [
    [id, keyId],
    [id, keyId],
    ['x', 'x'],
  ]) {
    await ask('GET', `${CONSUMERS}/{id}`, { headers, at });
    await ask('PATCH', `${CONSUMERS}/{id}`, { headers, at, body: { name: 'B' } });
    await ask('PUT', `${CONSUMERS}/{id}/grants`, { headers, at, body: { grants: [] } });
    await ask('POST', `${CONSUMERS}/{id}/keys`, { headers, at, body: { expires: '30d' } });
    await ask('POST', `${CONSUMERS}/{id}/keys/{keyId}/rotate`, { headers, at, body: {} });
  }
  for (const at of [
    [id, keyId],
    ['x', 'x'],
  ]) {
    await ask('DELETE', `${CONSUMERS}/{id}/keys/{keyId}`, { headers, at });
    await ask('DELETE', `${CONSUMERS}/{id}`, { headers, at });
    await ask('PATCH', `${CONSUMERS}/{id}`, { headers, at, body: { name: 'C' } });
  }
  await ask('GET', LEADS, { headers: { 'x-api-key': key } });
}

async function askForClaims(ask: Ask, headers: Record<string, string>) {
  for (const query of ['', '?limit=1', '?limit=0', '?cursor=x'])
    await ask('GET', '/api/v1/claims', { headers, query });
  await eventually(async () => {
    const { text } = await ask('GET', '/api/v1/claims', { headers });
    const { items } = JSON.parse(text) as { items: { leadId: string }[] };
    expect(items.map(({ leadId }) => leadId)).toContain('9');
  });
  for (const method of ['GET', 'DELETE', 'DELETE'])
    await ask(method, '/api/v1/claims/{leadId}', { headers, at: ['9'] });
}

async function askForAudit(ask: Ask, headers: Record<string, string>) {
  for (const query of ['', '?limit=1', '?action=key.create', '?action=no', '?cursor=x'])
    await ask('GET', '/api/v1/audit', { headers, query });
}

const draft = {
  id: 'orders',
  type: 'API',
  owner: 'team-orders',
  title: 'Orders',
  spec: { openapi: '3.1.0', info: { title: 'Orders' } },
};

async function askForArtifacts(ask: Ask, headers: Record<string, string>) {
  const once = { ...headers, 'idempotency-key': 'k' };
  const { id: _, ...content } = draft;
  const change = { ...headers, 'if-match': '*' };
  const one = `${CATALOG}/{id}`;
  const at = ['orders'];
  await ask('POST', CATALOG, { headers: once, body: draft });
  await ask('POST', CATALOG, { headers: once, body: draft });
  await ask('POST', CATALOG, { headers: once, body: { ...draft, title: 'Other' } });
  await ask('POST', CATALOG, { headers, body: { ...draft, version: '1.0.0' } });
  await ask('POST', CATALOG, { headers, body: { ...draft, lifecycle: 'PUBLISHED', id: '/' } });
  for (const query of ['', '?to=1.0.0', '?from=1.0.0&to=1.0.0', '?from=1.0.0&to=9'])
    await ask('GET', `${one}/diff`, { headers, at, query });
  for (const query of ['', '?version=1.0.0', '?version=9']) {
    await ask('GET', one, { headers, at, query });
    for (const accept of ['*/*', 'application/yaml'])
      await ask('GET', `${one}/spec`, { headers: { ...headers, accept }, at, query });
  }
  for (const step of ['publish', 'reinstate', 'retire', 'deprecate'])
    await ask('POST', `${one}/${step}`, { headers, at, query: '?version=1.0.0' });
  await ask('PUT', one, { headers, at, body: content });
  const spec = { ...draft.spec, info: { title: 'Orders', version: '1' }, paths: {} };
  await ask('PUT', one, { headers: change, at, body: { ...content, spec } });
  await ask('PATCH', one, { headers: { ...headers, 'if-match': '"x"' }, at, body: { title: 'O' } });
  await ask('PATCH', one, { headers: change, at, body: { title: 'O' } });
  for (const step of ['publish', 'publish', 'deprecate', 'reinstate', 'deprecate', 'retire'])
    await ask('POST', `${one}/${step}`, { headers, at, query: '?version=1.0.0' });
  await ask('POST', `${one}/retire`, { headers, at, query: '?version=1.0.0&early=true' });
  await ask('PUT', `${one}/default`, { headers, at, query: '?version=1.0.0' });
  await ask('DELETE', one, { headers: change, at, query: '?version=1.0.0' });
  await ask('POST', CATALOG, { headers, body: draft });
  await ask('DELETE', one, { headers: change, at });
  for (const path of [CATALOG, `${one}/versions`, `${one}/audit`, `${one}/usage`])
    for (const query of ['', '?limit=1', '?limit=0'])
      await ask('GET', path, { headers, at, query });
}

/** With no credential, a bad one or too little scope, and with bodies that nothing takes. */
async function askBadly(ask: Ask, document: OpenDocument, banner: string) {
  const headers = { authorization: `Bearer ${await tokenOf(banner, ALL_SCOPES)}` };
  const weak = { authorization: `Bearer ${await tokenOf(banner, 'catalog:read')}` };
  for (const { path, method: name } of operationsOf(document)) {
    const method = name.toUpperCase();
    await ask(method, path);
    await ask(method, path, { headers: { authorization: 'Bearer x', 'x-api-key': 'x' } });
    await ask(method, path, { headers: weak });
    if (method === 'GET') continue;
    await ask(method, path, { headers, body: '{' });
    await ask(method, path, { headers: { ...headers, 'content-type': 'text/plain' }, body: 'x' });
  }
}

test('every answer of every operation is as openapi.json declares it', async () => {
  const { ask, complaints, asked, document, banner } = await openSandbox();
  const headers = { authorization: `Bearer ${await tokenOf(banner, ALL_SCOPES)}` };
  await askForLeads(ask, read(banner, /X-API-KEY: (\w+)/));
  await askAsPartner(ask, read(banner, /-hmac '(sandbox_crm1_\w+)'/));
  await askForReceipts(ask, headers);
  await askForConsumers(ask, headers);
  await askForArtifacts(ask, headers);
  await askForClaims(ask, headers);
  await askForAudit(ask, headers);
  await askBadly(ask, document, banner);

  expect([...complaints]).toEqual([]);
  const operations = operationsOf(document).map(({ method, path }) => `${method} ${path}`);
  expect(operations.filter((operation) => !asked.has(operation))).toEqual([]);
});
