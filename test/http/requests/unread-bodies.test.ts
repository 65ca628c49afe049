import { type AddressInfo, connect } from 'node:net';
import nock from 'nock';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { looksSigned } from '#partners/intake/signed-request.ts';
import { fixedSignings } from '#partners/intake/signing.ts';
import { eventually } from '../../support/eventually.ts';
import { buildPartnerServer, NOW } from '../../partners/support.ts';

// It would read our broken HTTP in the server's place.
beforeAll(() => nock.restore());

const HEX = `sha256=${'aB'.repeat(32)}`;
const BASE64 = `${'a'.repeat(43)}=`;
const AGE_MAX_MS = 300_000;
const JSON_TYPE = 'Content-Type: application/json\r\n';
const LENGTH = 'Content-Length: 1000\r\n';

const limits = { headersTimeoutMs: 300, requestTimeoutMs: 300, checkIntervalMs: 50 };

async function serve(): Promise<number> {
  const { app } = buildPartnerServer({
    app: {
      limits,
      trackerWebhook: {
        verify: async () => ({ kind: 'ignored' }),
        onTrackerEvent: () => undefined,
        onRefused: () => undefined,
        settled: async () => {},
      },
    },
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  return (app.server.address() as AddressInfo).port;
}

/** Sends a head and holds the body back: all that comes until the server closes the connection. */
async function hold(port: number, head: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  let received = '';
  socket.on('data', (chunk) => (received += chunk.toString('latin1')));
  socket.write(`${head}Host: a\r\n\r\n`);
  await new Promise((resolve) => socket.on('close', resolve));
  return received;
}

/** The statuses of all responses: a body that is waited for ends with 408. */
const statuses = (received: string): string[] =>
  [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status ?? '');

describe("the tracker's webhook, its body held back", () => {
  const head = 'POST /api/v1/webhooks/github HTTP/1.1\r\n';
  const signed = `X-Hub-Signature-256: sha256=${'ab'.repeat(32)}\r\n`;

  test.each([
    ['without a signature', '401', `${JSON_TYPE}${LENGTH}`],
    ['with SHA-1', '401', `${JSON_TYPE}${LENGTH}X-Hub-Signature-256: sha1=${'ab'.repeat(20)}\r\n`],
    ['signed twice', '401', `${JSON_TYPE}${LENGTH}${signed}${signed}`],
    ['as a form', '415', `Content-Type: text/plain\r\n${LENGTH}${signed}`],
    ['too large', '413', `${JSON_TYPE}Content-Length: 26214401\r\n${signed}`],
    ['as it should be', '408', `${JSON_TYPE}${LENGTH}${signed}`],
  ])('%s: %s, and no second answer', async (_how, status, headers) => {
    expect(statuses(await hold(await serve(), `${head}${headers}`))).toEqual([status]);
  });
});

describe('a client that asks before it sends its body', () => {
  const head = `POST /api/v1/webhooks/github HTTP/1.1\r\nExpect: 100-continue\r\n`;
  const signed = `X-Hub-Signature-256: sha256=${'ab'.repeat(32)}\r\n`;

  test.each([
    ['without a signature', '401', `${JSON_TYPE}${LENGTH}`],
    ['as a form', '415', `Content-Type: text/plain\r\n${LENGTH}${signed}`],
    ['too large', '413', `${JSON_TYPE}Content-Length: 26214401\r\n${signed}`],
  ])('%s: %s in place of a 100, and the connection ends', async (_how, status, headers) => {
    const received = await hold(await serve(), `${head}${headers}`);
    expect(statuses(received)).toEqual([status]);
    expect(received).toMatch(/^connection: close\r$/im);
  });

  test('is told to go on when the body is read, and may go on afterwards', async () => {
    const socket = connect(await serve(), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      if (received.endsWith('HTTP/1.1 100 Continue\r\n\r\n')) socket.write('{}');
    });
    const small = `${head}${JSON_TYPE}Content-Length: 2\r\n${signed}Host: a\r\n\r\n`;
    socket.write(small);
    await eventually(() => expect(statuses(received)).toEqual(['100', '202']));
    socket.write(small);
    await eventually(() => expect(statuses(received)).toEqual(['100', '202', '100', '202']));
    expect(received).not.toMatch(/^connection: close\r$/im);
  });
});

describe("a partner's request, its body held back", () => {
  const at = (ms: number): string => `X-Vendor-Request-Timestamp: ${NOW + ms}\r\n`;
  const hex = `X-Partner-Signature: ${HEX}\r\n`;
  const base64 = `X-Vendor-Signature-v3: ${BASE64}\r\n`;

  test.each([
    ['nothing', '401', ''],
    ['the other scheme, too old', '401', `${base64}${at(-AGE_MAX_MS - 1)}`],
    ['a signature', '408', hex],
    ['the other scheme, just in time', '408', `${base64}${at(-AGE_MAX_MS)}`],
    ['both', '408', `${hex}${base64}${at(0)}`],
  ])('%s: %s for everybody, in the same bytes', async (_what, status, headers) => {
    const port = await serve();
    const responses = await Promise.all(
      ['crm-one', 'crm-two', 'nobody'].map((partner) =>
        hold(
          port,
          `POST /api/v1/webhooks/partners/${partner}/deletions HTTP/1.1\r\n${JSON_TYPE}${LENGTH}${headers}`,
        ),
      ),
    );
    const anonymous = responses.map((response) =>
      response.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '').replaceAll(/\r\ndate: .*/gi, ''),
    );
    expect(new Set(anonymous).size).toBe(1);
    expect(statuses(responses.join(''))).toEqual([status, status, status]);
  });

  test('what else can be refused comes first', async () => {
    const port = await serve();
    const call = (path: string, headers: string) =>
      hold(port, `POST /api/v1/webhooks/partners/${path} HTTP/1.1\r\n${headers}`);
    const responses = await Promise.all([
      call('CRM/deletions', LENGTH),
      call('crm-one/deletions', LENGTH),
      call('crm-one/deletions', `${JSON_TYPE}${LENGTH}Content-Encoding: br\r\n`),
      call('crm-one/deletions', `${JSON_TYPE}Content-Length: 1048577\r\n`),
    ]);
    expect(responses.flatMap(statuses)).toEqual(['401', '415', '415', '413']);
  });

  test('is counted for its partner and by its reason', async () => {
    const { app, metrics } = buildPartnerServer();
    const ask = (partner: string, headers: Record<string, string> = {}) =>
      app.inject({
        method: 'POST',
        url: `/api/v1/webhooks/partners/${partner}/events`,
        headers: { 'content-type': 'application/json', ...headers },
        payload: '{}',
      });
    await ask('crm-one');
    await ask('crm-one', { 'x-partner-signature': 'sha256=1' });
    await ask('crm-two', {
      'x-vendor-signature-v3': BASE64,
      'x-vendor-request-timestamp': String(NOW - AGE_MAX_MS - 1),
    });
    await ask('nobody');
    const text = await metrics.metrics();
    for (const [partner, reason] of [
      ['crm-one', 'signature-missing'],
      ['crm-one', 'signature-malformed'],
      ['crm-two', 'timestamp-outside-window'],
      ['', 'partner-unknown'],
    ])
      expect(text).toContain(
        `trackport_partner_refusals_total{partner="${partner}",reason="${reason}"} 1`,
      );
  });
});

test.each([
  [['text', HEX.toLowerCase()], true],
  [[HEX.slice(7)], false],
  [[` ${HEX}`], false],
  [[BASE64, String(NOW)], true],
  [[String(NOW), BASE64], true],
  [[BASE64], false],
  [[BASE64, `${NOW}0`], false],
  [[`${BASE64}=`, String(NOW)], false],
  [[], false],
])('headers with %j: %s', (values, expected) => {
  expect(looksSigned(Object.values(fixedSignings), values, NOW)).toBe(expected);
});
