import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import nock from 'nock';
import { beforeAll, expect, test } from 'vitest';
import { exchangeBytes, type Exchange } from '../support/raw-http.ts';
import { ALL_SCOPES, openSandbox, tokenOf } from '../support/sandbox-calls.ts';
import { createWorld, serve, WEBHOOK_SECRET } from '../support/world.ts';

type RawResponse = { status: number; headers: Map<string, string>; body: string };

const HEAD = /^HTTP\/1\.1 (\d{3}) [\x20-\x7e]*\r\n((?:[!#$%&'*+.^_`|~\w-]+: [^\r\n]*\r\n)*)\r\n/;

/** The responses of a connection, interim ones left out. @throws {Error} when one is no HTTP */
function responsesIn({ received, isCut }: Exchange): RawResponse[] {
  const responses: RawResponse[] = [];
  let rest = received;
  while (rest !== '') {
    const [head, digits = '', lines = ''] = HEAD.exec(rest) ?? [];
    if (head === undefined) {
      if (isCut) return responses;
      throw new Error(`no head of a response: ${JSON.stringify(rest.slice(0, 200))}`);
    }
    rest = rest.slice(head.length);
    const status = Number(digits);
    if (status < 200) continue;
    const headers = headersOf(lines);
    const length = status === 204 ? 0 : Number(headers.get('content-length'));
    if (!Number.isInteger(length)) throw new Error(`no length: ${head}`);
    if (rest.length < length && !isCut) throw new Error(`cut off: ${head}${rest}`);
    responses.push({ status, headers, body: rest.slice(0, length) });
    rest = rest.slice(length);
  }
  return responses;
}

function headersOf(lines: string): Map<string, string> {
  const headers = new Map<string, string>();
  for (const line of lines.split('\r\n').slice(0, -1)) {
    const name = line.slice(0, line.indexOf(':')).toLowerCase();
    if (headers.has(name)) throw new Error(`twice: ${line}`);
    headers.set(name, line.slice(line.indexOf(':') + 2));
  }
  return headers;
}

/** Bytes that nobody would send on purpose, over real connections to the whole program. */

// It would read our broken HTTP in the server's place.
beforeAll(() => nock.restore());

const RUNS = 400;
/** Ends the sending, not the test: on a slow machine fewer are sent. */
const SENDING_MS = 4000;
const PARTNER_SECRET = 'a-partner-secret-of-this-test';

/** A path that takes bodies, and the headers of a credential for a body. */
type Target = { path: string; sign: (body: Buffer) => string[] };

/** One request: `cut` and `more` break the framing that `body` would have. */
type Sending = {
  target: Target;
  method: string;
  body: Buffer;
  isSigned: boolean;
  framing: 'length' | 'wrong length' | 'chunked' | 'cut chunks' | 'broken chunks' | 'both' | 'none';
  number: string;
  headers: string[];
};

const bytes = fc.uint8Array({ maxLength: 3000 }).map((given) => Buffer.from(given));

const tokens = [
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"',
  '\\',
  ' ',
  '\n',
  '\u0000',
  '\uFEFF',
  '-',
  'é',
  '{"',
  '":',
  '\\u00',
  '\\ud83d',
  'null',
  'true',
  '1e999',
  '-0',
  '12345678901234567890',
  '"leadId"',
  '"eventId"',
  '"email"',
  '"__proto__"',
  '"id"',
  '"name"',
  '"grants"',
  '"type"',
  '"spec"',
  '"action"',
  '"issue"',
  '"repository"',
  '[['.repeat(40),
];

const jsonish = fc
  .oneof(
    fc.json({ maxDepth: 4 }),
    fc.array(fc.constantFrom(...tokens), { maxLength: 60 }).map((parts) => parts.join('')),
    fc.array(fc.json({ maxDepth: 1 }), { maxLength: 20 }).map((parts) => `[${parts.join()}]`),
    fc
      .dictionary(
        fc.constantFrom(
          ...tokens.filter((one) => one.startsWith('"')).map((one) => one.slice(1, -1)),
        ),
        fc.jsonValue({ maxDepth: 2 }),
      )
      .map((value) => JSON.stringify(value)),
  )
  .map((text) => Buffer.from(text));

const names = [
  'Content-Type',
  'Content-Length',
  'Content-Encoding',
  'Transfer-Encoding',
  'Authorization',
  'X-API-KEY',
  'X-Partner-Signature',
  'X-Vendor-Signature-v3',
  'X-Vendor-Request-Timestamp',
  'X-Hub-Signature-256',
  'X-GitHub-Event',
  'X-GitHub-Delivery',
  'X-Correlation-Id',
  'X-Request-Id',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'Expect',
  'Upgrade',
  'Host',
  'Origin',
  'Forwarded',
];

const values = fc.oneof(
  fc.constantFrom('', ' ', '*', '100-continue', 'chunked', 'gzip', '"x"', 'a, b', '-1', 'h2c'),
  fc.constantFrom('application/json; charset=', 'text/plain', 'sha256=', 'Bearer x', '0x10', '1e3'),
  fc.uint8Array({ maxLength: 60 }).map((given) => Buffer.from(given).toString('latin1')),
  fc.string({ maxLength: 60 }),
  fc.nat({ max: 20_000 }).map((length) => 'x'.repeat(length)),
);

const headers = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.tuple(fc.constantFrom(...names), values).map((pair) => pair.join(': ')),
    },
    { weight: 1, arbitrary: bytes.map((given) => given.subarray(0, 80).toString('latin1')) },
  ),
  { maxLength: 3 },
);

function sendings(targets: readonly Target[]): fc.Arbitrary<Sending> {
  return fc.record({
    target: fc.constantFrom(...targets),
    method: fc.oneof(
      { weight: 9, arbitrary: fc.constant('POST') },
      {
        weight: 1,
        arbitrary: fc.constantFrom('GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'post', ''),
      },
    ),
    body: fc.oneof(bytes, jsonish, jsonish),
    isSigned: fc.oneof(fc.constant(true), fc.constant(true), fc.boolean()),
    framing: fc.constantFrom(
      'length',
      'length',
      'chunked',
      'wrong length',
      'cut chunks',
      'broken chunks',
      'both',
      'none',
    ),
    number: fc.constantFrom(
      '0',
      '1',
      '-1',
      '+5',
      '5 5',
      '0x5',
      '99999',
      '1e3',
      '18446744073709551617',
      '',
    ),
    headers,
  });
}

function wireOf({ target, method, body, isSigned, framing, number, headers }: Sending): Buffer {
  const chunk = Buffer.concat([
    Buffer.from(`${body.length.toString(16)}\r\n`),
    body,
    Buffer.from('\r\n'),
  ]);
  const chunked = 'Transfer-Encoding: chunked';
  const length = `Content-Length: ${body.length}`;
  const framed: Record<Sending['framing'], [lines: string[], body: Buffer[]]> = {
    length: [[length], [body]],
    'wrong length': [[`Content-Length: ${number}`], [body]],
    chunked: [[chunked], [body.length > 0 ? chunk : body, Buffer.from('0\r\n\r\n')]],
    'cut chunks': [[chunked], [chunk.subarray(0, chunk.length >> 1)]],
    'broken chunks': [[chunked], [Buffer.from(`${number}\r\n`), body, Buffer.from('\r\n0\r\n')]],
    both: [
      [length, chunked],
      [chunk, Buffer.from('0\r\n\r\n')],
    ],
    none: [[], [body]],
  };
  const [lines, content] = framed[framing];
  const head = [
    `${method} ${target.path} HTTP/1.1`,
    'Host: a.example',
    'Content-Type: application/json',
    'Connection: close',
    ...(isSigned ? target.sign(body) : []),
    ...lines,
    ...headers,
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), ...content]);
}

/** A good request, a body that is no JSON, and one that is not signed: sent on any machine. */
function plainSendings([target]: readonly Target[]): [Sending][] {
  if (!target) return [];
  const good: Sending = {
    target,
    method: 'POST',
    body: Buffer.from('{"leadId":"1"}'),
    isSigned: true,
    framing: 'length',
    number: '',
    headers: [],
  };
  return [[good], [{ ...good, body: Buffer.from('{') }], [{ ...good, isSigned: false }]];
}

/** Sends many, and says what of the responses no client should ever see. */
async function fuzz(url: string, targets: readonly Target[]): Promise<Set<number>> {
  const port = Number(new URL(url).port);
  const statuses = new Set<number>();
  await fc.assert(
    fc.asyncProperty(sendings(targets), async (sending) => {
      const wire = wireOf(sending);
      for (const response of responsesIn(await exchangeBytes(port, wire))) {
        statuses.add(response.status);
        const complaint = complaintAbout(response);
        if (complaint !== '') throw new Error(`${complaint}\nto ${wire.toString('latin1')}`);
      }
    }),
    { numRuns: RUNS, interruptAfterTimeLimit: SENDING_MS, examples: plainSendings(targets) },
  );
  const health = await fetch(`${url}/healthz`);
  expect(health.status).toBe(200);
  return statuses;
}

/** Turned away for the load of the machine, which is no fault of the request. */
const BUSY = 'more calls than it can answer in time';

function complaintAbout({ status, headers, body }: RawResponse): string {
  if (status >= 500 && !body.includes(BUSY)) return `${status} ${body}`;
  if (!/^[0-9a-f-]{36}$/.test(headers.get('x-request-id') ?? '')) return `${status} without an id`;
  if (status < 400 || body === '') return '';
  if (headers.get('content-type') !== 'application/problem+json') return `${status} is no problem`;
  const problem = JSON.parse(Buffer.from(body, 'latin1').toString()) as { status?: unknown };
  return problem.status === status ? '' : `${status} ${body}`;
}

function hmac(secret: string, body: Buffer): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

test('signed paths: no bytes bring a 5xx, a broken response or the end of the process', async () => {
  const { config } = await createWorld({
    server: { refusedPerMinute: 1_000_000 },
    partners: { 'crm-one': { scheme: 'hmac-sha256', secrets: [PARTNER_SECRET] } },
  });
  const { run, url } = await serve(config);
  const partner = (name: string): Target => ({
    path: `/api/v1/webhooks/partners/crm-one/${name}`,
    sign: (body) => [`X-Partner-Signature: ${hmac(PARTNER_SECRET, body)}`],
  });
  const tracker: Target = {
    path: '/api/v1/webhooks/github',
    sign: (body) => [
      'X-GitHub-Event: issues',
      `X-Hub-Signature-256: ${hmac(WEBHOOK_SECRET, body)}`,
    ],
  };
  const statuses = await fuzz(url, [partner('deletions'), partner('events'), tracker]);
  for (const status of [202, 400, 401]) expect(statuses).toContain(status);
  expect(run.child.exitCode).toBe(null);
  expect(run.log().filter(({ level }) => level === 'error')).toEqual([]);
});

test('paths of catalog and consumers: the same', async () => {
  const { url, banner } = await openSandbox();
  const token = await tokenOf(banner, ALL_SCOPES);
  const sign = (): string[] => [`Authorization: Bearer ${token}`];
  const paths = ['/api/v1/catalog', '/api/v1/catalog/orders?version=1.0.0', '/api/v1/consumers'];
  const statuses = await fuzz(
    url,
    paths.map((path) => ({ path, sign })),
  );
  for (const status of [400, 401]) expect(statuses).toContain(status);
});
