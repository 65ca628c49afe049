/** On the public port nothing tells who is a partner; a port for operations does. */
import { signedBy } from '../../support/signed-by.ts';
import { expect, test } from 'vitest';
import { compose, type Composed } from '../support/world.ts';
import { freePort } from '../../support/free-port.ts';

const NOWHERE = 'http://127.0.0.1:1';
const SECRET = 'a-partner-secret-of-this-test';
const partners = {
  'crm-quiet': {
    scheme: 'hmac-sha256',
    secrets: [SECRET],
    deletions: { types: ['contact.deletion'] },
  },
};
const BODY = '{"eventType":"contact.note","eventId":"1"}';
const signed = signedBy('hmac-sha256', SECRET, { body: BODY });
const REFUSALS = /^trackport_partner_refusals_total.*$/gm;

function call({ url }: Pick<Composed, 'url'>, partner: string, headers: Record<string, string>) {
  return fetch(`${url}/api/v1/webhooks/partners/${partner}/deletions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: BODY,
  });
}

async function textAt(address: string): Promise<string> {
  const answer = await fetch(address);
  expect(answer.status).toBe(200);
  return answer.text();
}

/** The lines that count refused calls, after one of each kind to the partner. */
async function refusalsAfterCallsTo(partner: string): Promise<string[]> {
  const composed = await compose({ apiUrl: NOWHERE, settings: { partners } });
  const badCalls: Record<string, string>[] = [
    {},
    { 'x-partner-signature': 'none' },
    { 'x-partner-signature': `sha256=${'0'.repeat(64)}` },
  ];
  for (const headers of badCalls) expect((await call(composed, partner, headers)).status).toBe(401);
  const text = await textAt(`${composed.url}/metrics`);
  return text.match(REFUSALS) ?? [];
}

test('the public metrics count a bad call to a partner as one to a stranger', async () => {
  const ofPartner = await refusalsAfterCallsTo('crm-quiet');
  expect(ofPartner).toEqual(['trackport_partner_refusals_total{reason="unverified"} 3']);
  expect(await refusalsAfterCallsTo('crm-other')).toEqual(ofPartner);
});

test('nothing that the public can read names a partner', async () => {
  const composed = await compose({ apiUrl: NOWHERE, settings: { partners } });
  expect((await call(composed, 'crm-quiet', signed)).status).toBe(202);
  expect((await call(composed, 'crm-quiet', {})).status).toBe(401);
  const pages = [
    '/metrics',
    '/readyz',
    '/healthz',
    '/openapi.json',
    '/docs',
    '/problems/unauthorized',
  ];
  for (const page of pages) {
    const text = await textAt(composed.url + page);
    expect(text).not.toContain('crm-quiet');
    expect(text).not.toMatch(/\bpartner="/);
  }
  expect(await textAt(`${composed.url}/metrics`)).toContain(
    'trackport_partner_deletions_ignored_total 1',
  );
});

test('a port for operations names partners and reasons', async () => {
  const opsPort = await freePort();
  const settings = { partners, server: { opsPort } };
  const composed = await compose({ apiUrl: NOWHERE, settings });
  expect((await call(composed, 'crm-quiet', signed)).status).toBe(202);
  await call(composed, 'crm-quiet', {});
  await call(composed, 'crm-other', {});
  expect((await fetch(`${composed.url}/metrics`)).status).toBe(404);
  const text = await textAt(`http://127.0.0.1:${opsPort}/metrics`);
  expect(text).toContain('trackport_partner_deletions_ignored_total{partner="crm-quiet"} 1');
  expect(text.match(REFUSALS)?.toSorted()).toEqual([
    'trackport_partner_refusals_total{partner="",reason="partner-unknown"} 1',
    'trackport_partner_refusals_total{partner="crm-quiet",reason="signature-missing"} 1',
  ]);
});

test('what is ignored counts once, however often it comes', async () => {
  const composed = await compose({ apiUrl: NOWHERE, settings: { partners } });
  for (let time = 0; time < 3; time += 1)
    expect((await call(composed, 'crm-quiet', signed)).status).toBe(202);
  const text = await textAt(`${composed.url}/metrics`);
  expect(text).toMatch(/^trackport_partner_deletions_ignored_total 1$/m);
  expect(text).toMatch(/^trackport_partner_events_total\{.*outcome="IGNORED".*\} 1$/m);
});
