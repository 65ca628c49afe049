/** A partner that falls silent: what operators hear of it from a running service. */
import { signedBy } from '../../support/signed-by.ts';
import { expect, test } from 'vitest';
import { DAY, HOUR } from '#shared/clock.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { compose } from '../support/world.ts';

const NOWHERE = 'http://127.0.0.1:1';
const SECRET = 'a-partner-secret-of-this-test';
const crm = { scheme: 'hmac-sha256', secrets: [SECRET], expectEvery: '24h' };
const EVENT = '{"eventType":"nobody.asked","eventId":"1"}';

function send(url: string, body: string, secret = SECRET): Promise<Response> {
  return fetch(`${url}/api/v1/webhooks/partners/crm/events`, {
    method: 'POST',
    headers: signedBy('hmac-sha256', secret, { body }),
    body,
  });
}

async function setUp() {
  const opsPort = await freePort();
  const settings = {
    server: { opsPort },
    partners: { crm, off: { ...crm, enabled: false }, any: { ...crm, expectEvery: '365d' } },
  };
  const composed = await compose({ apiUrl: NOWHERE, settings });
  const silences = async () => {
    const text = await (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text();
    const found = text.matchAll(/^trackport_partner_silent_seconds\{partner="(\w+)"\} (\S+)$/gm);
    return Object.fromEntries([...found].map(([, id, value]) => [id, Number(value)]));
  };
  const said = () => composed.logText().match(/a partner (?:has fallen|is not) silent/g) ?? [];
  return { ...composed, silences, said };
}

const WELL = { crm: 0, off: 0, any: 0 };

test('silence is measured and logged once, until something is accepted: a repeat will do', async () => {
  const { clock, url, silences, said } = await setUp();
  expect((await send(url, EVENT)).status).toBe(202);
  expect(await silences()).toEqual(WELL);
  await clock.advance(DAY);
  expect(await silences()).toEqual(WELL);
  await clock.advance(HOUR);
  expect(await silences()).toEqual({ ...WELL, crm: (DAY + HOUR) / 1000 });
  await eventually(() => expect(said()).toEqual(['a partner has fallen silent']));

  expect((await send(url, EVENT, 'another-secret')).status).toBe(401);
  expect((await send(url, '"text"')).status).toBe(400);
  expect((await silences())['crm']).toBeGreaterThan(0);

  const repeat = await send(url, EVENT);
  expect(repeat.headers.get('idempotent-replayed')).toBe('true');
  expect(await silences()).toEqual(WELL);
  await clock.advance(HOUR);
  await eventually(() => expect(said().at(-1)).toBe('a partner is not silent'));
  expect(said()).toHaveLength(2);
});

test('the public port says of nobody that it is silent', async () => {
  const { url, clock } = await compose({ apiUrl: NOWHERE, settings: { partners: { crm } } });
  await clock.advance(2 * DAY);
  const text = await (await fetch(`${url}/metrics`)).text();
  expect(text).not.toMatch(/^trackport_partner_silent_seconds/m);
});
