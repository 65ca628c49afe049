import { createHmac } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { createAnswerCheck } from '../support/declared-answers.ts';
import { temporaryFolder } from '../support/folder.ts';
import { openDocument, operationsOf, type OpenDocument } from '../support/openapi.ts';
import { listening, trackport } from './process.ts';

const LEADS = '/api/v1/leads';
const ME = '/api/v1/me';
const RECEIPTS = '/api/v1/receipts';
const CONSUMERS = '/api/v1/consumers';
const CATALOG = '/api/v1/catalog';
const PARTNER = '/api/v1/webhooks/partners/{partnerId}';

type Call = {
  /** Values of the template's parameters, in order. */
  at?: readonly string[];
  query?: string;
  headers?: Record<string, string>;
  body?: unknown;
};
type Answer = { status: number; headers: Headers; text: string };
type Ask = (method: string, path: string, call?: Call) => Promise<Answer>;

/** A sandbox, and a way to ask it that keeps what openapi.json does not say of the answers. */
async function openSandbox() {
  const run = trackport(['sandbox', '--port', '0'], {
    environment: { TMPDIR: temporaryFolder() },
  });
  const url = await listening(run);
  const document = openDocument(await (await fetch(`${url}/openapi.json`)).json());
  const check = createAnswerCheck(document);
  const complaints = new Set<string>();
  const asked = new Set<string>();
  const ask: Ask = async (method, path, { at = [], query = '', headers = {}, body } = {}) => {
    let left = at;
    const address = path.replaceAll(/\{\w+\}/g, () => {
      const [value = 'x', ...rest] = left;
      left = rest;
      return encodeURIComponent(value);
    });
    const answer = await fetch(`${url}${address}${query}`, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const given = { status: answer.status, headers: answer.headers, text: await answer.text() };
    for (const complaint of check({ method, path, ...given })) complaints.add(complaint);
    asked.add(`${method.toLowerCase()} ${path}`);
    return given;
  };
  return { ask, complaints, asked, document, banner: run.stdout() };
}

function read(text: string, pattern: RegExp): string {
  return pattern.exec(text)?.[1] ?? '';
}

async function tokenOf(banner: string, scope: string): Promise<string> {
  const answer = await fetch(read(banner, /(http:\S+\/token)/), {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(read(banner, /-u '([^']+)'/))}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope }),
  });
  return ((await answer.json()) as { access_token: string }).access_token;
}

async function askForLeads(ask: Ask, key: string) {
  const headers = { 'x-api-key': key };
  const first = await ask('GET', LEADS, { headers, query: '?limit=2' });
  const etag = first.headers.get('etag') ?? '';
  await ask('GET', LEADS, { headers: { ...headers, 'if-none-match': etag }, query: '?limit=2' });
  for (const query of ['?limit=0&state=no&x=1', '?cursor=x', '?since=2026-01-01&state=all'])
    await ask('GET', LEADS, { headers, query });
  for (const leadId of ['14', '13', '999'])
    await ask('GET', `${LEADS}/{leadId}`, { headers, at: [leadId] });
  for (const query of ['', '?limit=1', '?state=all'])
    await ask('GET', `${LEADS}/removals`, { headers, query });
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
      const digest = createHmac('sha256', secret).update(body).digest('hex');
      const headers = { 'x-partner-signature': `sha256=${digest}`, 'x-correlation-id': 'c-1' };
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
  const once = { ...headers, 'idempotency-key': 'k' };
  const expiring = { name: 'Soon', grants, expires: '1h' };
  const soon = await ask('POST', CONSUMERS, { headers: once, body: expiring });
  await ask('POST', CONSUMERS, { headers: once, body: expiring });
  await ask('POST', CONSUMERS, { headers: once, body: { ...expiring, name: 'Other' } });
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
  await vi.waitFor(async () => {
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
  for (const query of ['', '?version=1.0.0', '?version=9'])
    await ask('GET', one, { headers, at, query });
  for (const step of ['publish', 'reinstate', 'retire', 'deprecate'])
    await ask('POST', `${one}/${step}`, { headers, at, query: '?version=1.0.0' });
  await ask('PUT', one, { headers, at, body: content });
  const spec = { ...draft.spec, info: { title: 'Orders', version: '1' }, paths: {} };
  await ask('PUT', one, { headers: change, at, body: { ...content, spec } });
  await ask('PATCH', one, { headers: { ...headers, 'if-match': '"x"' }, at, body: { title: 'O' } });
  await ask('PATCH', one, { headers: change, at, body: { title: 'O' } });
  for (const step of ['publish', 'publish', 'deprecate', 'reinstate', 'deprecate', 'retire'])
    await ask('POST', `${one}/${step}`, { headers, at, query: '?version=1.0.0' });
  await ask('PUT', `${one}/default`, { headers, at, query: '?version=1.0.0' });
  await ask('DELETE', one, { headers: change, at, query: '?version=1.0.0' });
  await ask('POST', CATALOG, { headers, body: draft });
  await ask('DELETE', one, { headers: change, at });
  for (const path of [CATALOG, `${one}/versions`, `${one}/audit`])
    for (const query of ['', '?limit=1', '?limit=0'])
      await ask('GET', path, { headers, at, query });
}

const ALL_SCOPES = 'catalog:read catalog:write catalog:publish trackport:admin';

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
