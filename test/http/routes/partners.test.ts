import { readWorkCounts } from '#partners/worker/worker.ts';
import nock from 'nock';
import { beforeAll, describe, expect, test } from 'vitest';
import { receiptOut } from '#partners/receipts/receipt-out.ts';
import { toRfc3339 } from '#shared/clock.ts';
import { type Log, type LogFields, silentLog } from '#shared/log.ts';
import { Secret } from '#shared/crypto/secret.ts';
import {
  buildPartnerServer,
  callOverHttp,
  NOW,
  PARTNER_URL,
  SECRET_ONE,
  SECRET_TWO,
  signedHeaders,
} from '../../partners/support.ts';
import { type World } from '../../support/world.ts';
import { secretsOf } from '../../support/partners.ts';
import { temporaryDatabase } from '../../support/stores.ts';
import { listReceipts, readReceipt } from '#partners/receipts/read-receipts.ts';
import { verifierOfNames } from '../../support/tokens.ts';

// It would read our broken HTTP in the server's place.
beforeAll(() => nock.restore());

const DELETIONS = '/api/v1/webhooks/partners/crm-one/deletions';
const DELETION = '{"eventType":"lead.deletion","eventId":"e-1","externalId":"x-1"}';

type Call = {
  url?: string;
  body?: string | Buffer;
  headers?: Record<string, string | undefined>;
};

/** A good deletion of the first partner, with what a test changes about it. */
async function send(server: World, { url = DELETIONS, body = DELETION, headers }: Call = {}) {
  const all = { ...signedHeaders('crm-one', { body }), ...headers };
  const given = Object.entries(all).filter(([, value]) => value !== undefined);
  const response = await server.app.inject({
    method: 'POST',
    url,
    headers: Object.fromEntries(given) as Record<string, string>,
    body: Buffer.from(body),
  });
  return { status: response.statusCode, headers: response.headers, text: response.body };
}

async function receipts(server: World): Promise<number> {
  return (await listReceipts(server.receipts.db, { filter: {}, limit: 100 })).length;
}

/** Lines of the log about each response. */
function recordLog() {
  const fields: LogFields[] = [];
  const log: Log = { ...silentLog, info: (line) => void fields.push(line) };
  return { log, fields };
}

const codeOf = ({ text }: { text: string }) => (JSON.parse(text) as { code?: string }).code;

describe('an accepted delivery', () => {
  test('gets a receipt after it is in the store', async () => {
    const server = buildPartnerServer();
    const response = await send(server);
    expect(response.status).toBe(202);
    const receipt = receiptOut.strict().parse(JSON.parse(response.text));
    expect(receipt).toEqual({
      id: receipt.id,
      partnerId: 'crm-one',
      eventType: 'lead.deletion',
      externalId: 'x-1',
      correlationId: receipt.correlationId,
      status: 'ACCEPTED',
      receivedAt: toRfc3339(NOW),
    });
    expect(response.headers['x-correlation-id']).toBe(receipt.correlationId);
    expect(response.headers['idempotent-replayed']).toBeUndefined();
    expect(await readReceipt(server.receipts.db, receipt.id)).toMatchObject({
      events: [{ outcome: 'PENDING' }],
    });
    expect((await readWorkCounts(server.database)).open).toBe(1);
  });

  test('comes again: the same receipt, marked as replayed, and no second event', async () => {
    const server = buildPartnerServer();
    const first = await send(server);
    await server.clock.advance(60_000);
    const again = await send(server);
    expect(again.status).toBe(202);
    expect(again.text).toBe(first.text);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(await receipts(server)).toBe(1);
    expect((await readWorkCounts(server.database)).open).toBe(1);
  });

  test('is signed for a query, which is otherwise ignored', async () => {
    const server = buildPartnerServer();
    const path = '/api/v1/webhooks/partners/crm-two/deletions?b=2&a=%20%3A';
    const body = '{"objectId":1}';
    // The scheme signs this escape decoded, and a space as it is sent.
    const headers = signedHeaders('crm-two', { body, path: path.replace('%3A', ':') });
    const call = async (url: string) =>
      (await server.app.inject({ method: 'POST', url, headers, body })).statusCode;
    expect(await call(path)).toBe(202);
    expect(await call(path.replace('%3A', '%3a'))).toBe(202);
    expect(await call(path.replace('%20', '+'))).toBe(401);
    expect(await call(path.replace('b=2&a=%20%3A', 'a=%20%3A&b=2'))).toBe(401);
    expect(await call(path.split('?')[0] ?? '')).toBe(401);
  });

  test('is the same whatever host the connection names', async () => {
    const server = buildPartnerServer();
    const path = '/api/v1/webhooks/partners/crm-two/deletions';
    const body = '{"objectId":1}';
    const headers = {
      ...signedHeaders('crm-two', { body, path }),
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'http',
      forwarded: 'host=evil.example',
    };
    const response = await callOverHttp(server.app, {
      path: `http://evil.example${path}`,
      headers: Object.entries(headers),
      body: Buffer.from(body),
    });
    expect(response.status).toBe(202);
  });
});

describe('a request that cannot be verified', () => {
  const unknown = (id: string): Call => ({ url: `/api/v1/webhooks/partners/${id}/deletions` });
  const reasons: [string, Call][] = [
    ['an unknown partner', unknown('nobody')],
    ['a disabled partner', unknown('gone')],
    ['another partner’s name', unknown('crm-two')],
    ['an upper-case name', unknown('CRM-ONE')],
    ['an escaped slash', unknown('crm-one%2Fx')],
    ['a name of 2,000 characters', unknown('a'.repeat(2000))],
    ['broken escapes', unknown('%zz')],
    ['a name escaped twice', unknown('%2563rm-one')],
    ['a wrong signature', { headers: { 'x-partner-signature': `sha256=${'0'.repeat(64)}` } }],
    ['no signature', { headers: { 'x-partner-signature': undefined } }],
  ];

  test.each(reasons)('%s gets the uniform 401', async (_reason, call) => {
    const server = buildPartnerServer({
      partners: {
        'crm-one': { scheme: 'hmac-sha256', secrets: secretsOf(SECRET_ONE) },
        'crm-two': { scheme: 'signature-v3', secrets: secretsOf(SECRET_TWO) },
        gone: { scheme: 'hmac-sha256', secrets: secretsOf(SECRET_ONE), enabled: false },
      },
    });
    const response = await send(server, call);
    expect(response.status).toBe(401);
    expect(response.headers['www-authenticate']).toBe('Signature');
    expect(JSON.parse(response.text)).toEqual({
      type: `${PARTNER_URL}/problems/unauthorized`,
      title: 'No valid credential',
      status: 401,
      detail: 'The signature of this call could not be verified.',
      instance: `urn:uuid:${String(response.headers['x-request-id'])}`,
      code: 'unauthorized',
    });
    expect(comparable(response)).toEqual(comparable(await send(server, unknown('nobody'))));
    expect(await receipts(server)).toBe(0);
  });

  /** All but what every response has of its own. */
  const comparable = ({ headers }: { headers: Record<string, unknown> }) => ({
    ...headers,
    'x-request-id': undefined,
    date: undefined,
  });

  test('is refused when a header comes twice of which Node would keep one', async () => {
    const server = buildPartnerServer({
      partners: {
        'crm-one': {
          scheme: 'hmac-sha256',
          secrets: secretsOf(SECRET_ONE),
          headers: { signature: 'Authorization' },
        },
      },
    });
    const signature = signedHeaders('crm-one', { body: DELETION })['x-partner-signature'] ?? '';
    const call = (values: string[]) =>
      callOverHttp(server.app, {
        path: DELETIONS,
        headers: [
          ['content-type', 'application/json'],
          ...values.map((value): [string, string] => ['authorization', value]),
        ],
        body: Buffer.from(DELETION),
      });
    expect((await call([signature])).status).toBe(202);
    expect((await call([signature, 'another'])).status).toBe(401);
  });

  test('by a secret past its time differs from a wrong one in log and metric alone', async () => {
    const { log, fields } = recordLog();
    const [secret] = secretsOf(SECRET_ONE);
    const server = buildPartnerServer({
      partners: {
        'crm-one': {
          scheme: 'hmac-sha256',
          secrets: [{ value: secret?.value ?? new Secret('-'), notAfter: NOW - 1 }],
        },
      },
      app: { log },
    });
    const expired = await send(server);
    const wrong = await send(server, {
      headers: signedHeaders('crm-one', { body: DELETION, secret: 'other' }),
    });
    expect([expired.status, wrong.status]).toEqual([401, 401]);
    const { instance: _one, ...response } = JSON.parse(expired.text) as Record<string, unknown>;
    expect(JSON.parse(wrong.text)).toMatchObject(response);
    expect(comparable(expired)).toEqual(comparable(wrong));
    expect(fields).toMatchObject([
      { partnerId: 'crm-one', refusal: 'secret-expired' },
      { partnerId: 'crm-one', refusal: 'signature-wrong' },
    ]);
    const text = await server.metrics.metrics();
    for (const reason of ['secret-expired', 'signature-wrong'])
      expect(text).toContain(
        `trackport_partner_refusals_total{partner="crm-one",reason="${reason}"} 1`,
      );
  });

  test('of signature-v3 is logged with the address that was verified, without what its query says', async () => {
    const { log, fields } = recordLog();
    const server = buildPartnerServer({ app: { log } });
    const url = '/api/v1/webhooks/partners/crm-two/deletions';
    const headers = signedHeaders('crm-two', { body: DELETION, path: '/elsewhere' });
    for (const query of ['', '?email=ada@example.com&x', '?x'])
      expect((await send(server, { url: url + query, headers })).status).toBe(401);
    const other = { 'x-partner-signature': `sha256=${'0'.repeat(64)}` };
    expect((await send(server, { headers: other })).status).toBe(401);
    expect(fields.map(({ verifiedAddress }) => verifiedAddress)).toEqual([
      `${PARTNER_URL}${url}`,
      `${PARTNER_URL}${url}?…`,
      `${PARTNER_URL}${url}?…`,
      undefined,
    ]);
    expect(JSON.stringify(fields)).not.toContain('ada@');
  });

  test('of nobody we know leaves no name in the log', async () => {
    const { log, fields } = recordLog();
    const server = buildPartnerServer({ app: { log } });
    await send(server, unknown('ada-lovelace'));
    expect(fields).toMatchObject([{ refusal: 'partner-unknown', status: 401 }]);
    expect(JSON.stringify(fields)).not.toContain('ada-lovelace');
  });

  test('is limited by address, a request that verifies is not', async () => {
    const server = buildPartnerServer({ refusedPerMinute: 3 });
    const bad = { headers: { 'x-partner-signature': 'x' } };
    for (let call = 0; call < 3; call += 1) expect((await send(server, bad)).status).toBe(401);
    const limited = await send(server, bad);
    expect([limited.status, codeOf(limited)]).toEqual([429, 'quota-exceeded']);
    expect(limited.headers['retry-after']).toMatch(/^\d+$/);
    expect((await send(server, unknown('%zz'))).status).toBe(429);
    expect((await send(server)).status).toBe(202);
  });
});

describe('a path that is not there', () => {
  const below = (id: string, rest: string) => `/api/v1/webhooks/partners/${id}${rest}`;
  const wrong = ['/delete', '/deletions/', '/deletions/x', '/Deletions', '/', '', '/%64elete'];
  const partners = {
    'crm-one': { scheme: 'hmac-sha256', secrets: secretsOf(SECRET_ONE) },
  } as const;

  test.each(wrong)('%j is 404, whoever the partner is', async (rest) => {
    const server = buildPartnerServer({ partners });
    for (const id of ['crm-one', 'nobody', 'CRM', '%63rm-one']) {
      const response = await send(server, { url: below(id, rest) });
      expect([response.status, codeOf(response)]).toEqual([404, 'not-found']);
      expect(response.headers['www-authenticate']).toBeUndefined();
    }
    expect(await receipts(server)).toBe(0);
  });

  test('a doubled slash and none are 404, too', async () => {
    const server = buildPartnerServer({ partners });
    for (const url of [below('/crm-one', '/deletions'), '/api/v1/webhooks/partners'])
      expect((await send(server, { url })).status).toBe(404);
  });

  test('is not counted as a refused request', async () => {
    const server = buildPartnerServer({ partners, refusedPerMinute: 1 });
    for (let call = 0; call < 3; call += 1)
      expect((await send(server, { url: below('crm-one', '/delete') })).status).toBe(404);
  });
});

describe('an escaped letter in the path', () => {
  const urls = [
    '/api/v1/webhooks/partners/%63rm-one/deletions',
    '/api/v1/webhooks/partners/crm-one/%64eletions',
    '/api/v1/webhooks/p%61rtners/crm-one/deletion%73',
  ];

  test.each(urls)('%s is signed as it was sent', async (url) => {
    const server = buildPartnerServer();
    const path = url.replace('%63rm', 'crm').replace('-one', '-two');
    const escaped = path.replace('crm-two', '%63rm-two');
    const call = (given: string, signed: string) =>
      server.app.inject({
        method: 'POST',
        url: given,
        headers: signedHeaders('crm-two', { body: DELETION, path: signed }),
        body: DELETION,
      });
    expect((await call(escaped, escaped)).statusCode).toBe(202);
    expect((await call(escaped, path)).statusCode).toBe(401);
  });
});

describe('the order of checks', () => {
  const badSignature = { 'x-partner-signature': 'sha256=0' };

  test.each([
    [undefined, 415],
    ['application/json; charset=utf-16', 415],
    ['application/json; charset=utf-8', 401],
    ['application/jsonl', 415],
  ])('content type %s before the signature: %d', async (type, status) => {
    const server = buildPartnerServer();
    const response = await send(server, { headers: { ...badSignature, 'content-type': type } });
    expect(response.status).toBe(status);
  });

  test.each(['Application/Vnd.Acme.V1+JSON; charset=utf-8'])(
    'a signed call is taken as %s',
    async (type) => {
      const server = buildPartnerServer();
      const headers = { ...signedHeaders('crm-one', { body: DELETION }), 'content-type': type };
      const call = { method: 'POST', url: DELETIONS, headers, payload: DELETION } as const;
      expect((await server.app.inject(call)).statusCode).toBe(202);
    },
  );

  test('a content type even for a body of no bytes', async () => {
    const server = buildPartnerServer();
    const headers = signedHeaders('crm-one', { body: '' });
    const { 'content-type': _left, ...without } = headers;
    const call = async (given: Record<string, string>) =>
      (await server.app.inject({ method: 'POST', url: DELETIONS, headers: given })).statusCode;
    expect(await call(without)).toBe(415);
    expect(await call(headers)).toBe(400);
  });

  test.each([
    ['gzip', 415],
    ['identity', 401],
  ])('content encoding %s before the signature: %d', async (encoding, status) => {
    const server = buildPartnerServer();
    const headers = { ...badSignature, 'content-encoding': encoding };
    expect((await send(server, { headers })).status).toBe(status);
  });

  test('the name’s shape before the content type', async () => {
    const server = buildPartnerServer();
    const url = DELETIONS.replace('crm-one', 'CRM');
    expect((await send(server, { url, headers: { 'content-type': 'text/plain' } })).status).toBe(
      401,
    );
  });

  test('the size before the signature, with and without a length', async () => {
    const server = buildPartnerServer();
    const fits = Buffer.from(`["${'a'.repeat(1024 * 1024 - 4)}"]`);
    const tooLarge = Buffer.concat([fits, Buffer.from(' ')]);
    expect(fits).toHaveLength(1024 * 1024);
    expect((await send(server, { body: fits, headers: badSignature })).status).toBe(401);
    expect((await send(server, { body: fits })).status).toBe(202);
    expect((await send(server, { body: tooLarge, headers: badSignature })).status).toBe(413);
    const chunked = await callOverHttp(server.app, {
      path: DELETIONS,
      headers: [
        ...Object.entries(signedHeaders('crm-one', { body: tooLarge })),
        ['transfer-encoding', 'chunked'],
      ],
      body: tooLarge,
    });
    expect(chunked.status).toBe(413);
  });

  test.each(['{', '{"leadId":"24","leadId":"25"}'])(
    'a good signature over %j: 400, nothing stored',
    async (body) => {
      const server = buildPartnerServer();
      const response = await send(server, { body });
      expect([response.status, codeOf(response)]).toEqual([400, 'malformed-json']);
      expect(await receipts(server)).toBe(0);
    },
  );

  test('bytes that are not UTF-8: 400 behind a good signature, 401 behind a bad one', async () => {
    const server = buildPartnerServer();
    const body = Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]);
    expect((await send(server, { body })).status).toBe(400);
    expect((await send(server, { body, headers: badSignature })).status).toBe(401);
  });

  test.each(['"x"', 'null'])('%s is JSON, but no event: 400', async (body) => {
    const server = buildPartnerServer();
    const response = await send(server, { body });
    expect([response.status, codeOf(response)]).toEqual([400, 'validation-failed']);
  });

  test.each([
    '[]',
    '{}',
    '[null]',
    '[[]]',
    '[1,"a",true]',
    '{"eventType":{},"eventId":[],"email":1}',
  ])('%s is accepted, whatever is in it', async (body) => {
    const server = buildPartnerServer();
    expect((await send(server, { body })).status).toBe(202);
    const events = DELETIONS.replace('deletions', 'events');
    expect((await send(server, { url: events, body })).status).toBe(202);
  });

  test('a byte order mark is signed and then dropped', async () => {
    const server = buildPartnerServer();
    expect((await send(server, { body: `\ufeff${DELETION}` })).status).toBe(202);
  });
});

describe('the correlation id', () => {
  test('is echoed on refusals, too', async () => {
    const server = buildPartnerServer();
    const response = await send(server, {
      headers: { 'x-correlation-id': 'mine', 'x-partner-signature': 'bad' },
    });
    expect([response.status, response.headers['x-correlation-id']]).toEqual([401, 'mine']);
  });

  test('of a repeat is echoed, and the original one stands in the receipt', async () => {
    const server = buildPartnerServer();
    await send(server, { headers: { 'x-correlation-id': 'first' } });
    const again = await send(server, { headers: { 'x-correlation-id': 'second' } });
    expect(again.headers['x-correlation-id']).toBe('second');
    expect(JSON.parse(again.text)).toMatchObject({ correlationId: 'first' });
  });
});

describe('a partner’s own settings', () => {
  const settings = { scheme: 'hmac-sha256' as const, secrets: secretsOf(SECRET_ONE) };

  test('limitPerMinute counts verified requests only', async () => {
    const server = buildPartnerServer({
      partners: { 'crm-one': { ...settings, limitPerMinute: 2 } },
    });
    expect((await send(server, { headers: { 'x-partner-signature': 'bad' } })).status).toBe(401);
    expect((await send(server)).status).toBe(202);
    const second = await send(server);
    expect([second.status, second.headers['ratelimit']]).toEqual([202, '"default";r=0;t=60']);
    const third = await send(server);
    expect([third.status, codeOf(third)]).toEqual([429, 'quota-exceeded']);
    expect(third.headers['retry-after']).toBe('60');
    await server.clock.advance(60_000);
    expect((await send(server)).status).toBe(202);
  });

  test('requireBearer needs a good token besides the signature', async () => {
    const server = buildPartnerServer({
      partners: { 'crm-one': { ...settings, requireBearer: true } },
      app: { bearer: { verifier: verifierOfNames } },
    });
    const bearer = (authorization: string | undefined) =>
      send(server, { headers: { authorization } });
    for (const response of [await bearer(undefined), await bearer('Bearer bad')]) {
      expect(response.status).toBe(401);
      expect(response.headers['www-authenticate']).toBe('Signature');
    }
    expect((await bearer('Bearer owner')).status).toBe(202);
    const unsigned = { authorization: 'Bearer owner', 'x-partner-signature': 'bad' };
    expect((await send(server, { headers: unsigned })).status).toBe(401);
  });
});

describe('a store that cannot commit', () => {
  test('full: 503 with Retry-After, nothing accepted, and well again with space', async () => {
    const database = temporaryDatabase();
    const server = buildPartnerServer({ database });
    const { handle } = database.writing;
    const pages = handle.pragma('page_count', { simple: true }) as number;
    handle.pragma(`max_page_count = ${pages}`);
    const body = `[${Array.from({ length: 200 }, (_, n) => `{"externalId":"${'x'.repeat(500)}${n}"}`).join(',')}]`;
    const response = await send(server, { body });
    expect([response.status, codeOf(response)]).toEqual([503, 'store-unavailable']);
    expect(Number(response.headers['retry-after'])).toBeGreaterThan(0);
    expect(await receipts(server)).toBe(0);
    expect((await readWorkCounts(server.database)).open).toBe(0);
    handle.pragma('max_page_count = 1000000');
    expect((await send(server, { body })).status).toBe(202);
  });
});
