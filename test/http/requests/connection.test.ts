import { connect } from 'node:net';
import nock from 'nock';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { ServerOptions } from '#http/server.ts';
import type { HttpApp } from '#http/context.ts';
import { type LogFields, silentLog } from '#shared/log.ts';
import { buildTestApp, PUBLIC_URL } from '../../support/http/app.ts';
import { fakeLeads } from '../../support/http/leads.ts';

let app: HttpApp;
let port: number;
/** Of a server that waits for less than the other one takes when the machine is busy. */
let hastyPort: number;
const reached: string[] = [];
const mistakes: LogFields[] = [];

beforeAll(async () => {
  // It would read our broken HTTP in the server's place.
  nock.restore();
  app = buildServer({});
  port = await listen(app);
  const hasty = buildServer({ headersTimeoutMs: 300, requestTimeoutMs: 300, checkIntervalMs: 50 });
  hastyPort = await listen(hasty);
  return () => hasty.close();
});
afterAll(() => app.close());

function buildServer(limits: NonNullable<ServerOptions['limits']>): HttpApp {
  return buildTestApp({
    ...fakeLeads(),
    log: { ...silentLog, error: (fields) => mistakes.push(fields) },
    trackerWebhook: {
      verify: async ({ rawBody }) => {
        reached.push(rawBody.toString());
        return { kind: 'ignored' };
      },
      onTrackerEvent: () => undefined,
      onRefused: () => undefined,
      settled: async () => {},
    },
    limits,
  });
}

async function listen(server: HttpApp): Promise<number> {
  await server.listen({ port: 0, host: '127.0.0.1' });
  const address = server.server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Sends raw bytes and gives back all that comes until the server closes the connection. */
async function exchange(text: string, to = port): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect(to, '127.0.0.1', () => socket.write(text));
  let received = '';
  socket.on('data', (chunk) => (received += chunk.toString('latin1')));
  socket.on('error', reject);
  socket.on('close', () => resolve(received));
  return promise;
}

/** The one response of an exchange: status line, headers and problem document. */
function problemIn(received: string) {
  const [head = '', body = ''] = received.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 2),
    ]),
  );
  return { status: Number(statusLine.split(' ')[1]), headers, problem: JSON.parse(body) };
}

/** Status and code of the refusal, which is a whole problem document and the only response. */
async function refusalOf(text: string, to = port): Promise<string> {
  const received = await exchange(text, to);
  expect(received.match(/HTTP\/1\.1 \d/g)).toHaveLength(1);
  const { status, headers, problem } = problemIn(received);
  expect(problem).toMatchObject({
    type: `${PUBLIC_URL}/problems/${problem.code}`,
    title: expect.any(String),
    status,
    detail: expect.any(String),
    instance: `urn:uuid:${headers['x-request-id']}`,
  });
  expect(headers['content-type']).toBe('application/problem+json');
  expect(headers['connection']).toBe('close');
  expect(Number(headers['content-length'])).toBeGreaterThan(0);
  return `${status} ${problem.code}`;
}

const HOST = 'Host: a.example\r\n';
const unsigned = `POST /api/v1/webhooks/github HTTP/1.1\r\n${HOST}Content-Type: application/json\r\n`;
const webhook = `${unsigned}X-Hub-Signature-256: sha256=${'0'.repeat(64)}\r\n`;

describe('slow requests are cut with 408', () => {
  test.each([
    ['headers that never end', `GET /healthz HTTP/1.1\r\n${HOST}X-A: b`],
    ['a body that never comes', `${webhook}Content-Length: 10\r\n\r\n`],
    ['a body that stops', `${webhook}Content-Length: 10\r\n\r\n{"a"`],
    ['a chunked body that stops', `${webhook}Transfer-Encoding: chunked\r\n\r\n4\r\n{"a"\r\n`],
  ])('%s', async (_name, text) => {
    expect(await refusalOf(text, hastyPort)).toBe('408 request-timeout');
  });
});

describe('broken HTTP is refused with a problem document', () => {
  test.each([
    ['no HTTP at all', 'hello\r\n\r\n'],
    ['an unknown method', `FROB / HTTP/1.1\r\n${HOST}\r\n`],
    ['a space before the colon', `GET / HTTP/1.1\r\n${HOST}X-A : b\r\n\r\n`],
    ['both lengths', `${webhook}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['two lengths', `${webhook}Content-Length: 5\r\nContent-Length: 6\r\n\r\n{"a":1}`],
    ['a coding after chunked', `${webhook}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
    [
      'a bare line feed in a chunk',
      `${webhook}Transfer-Encoding: chunked\r\n\r\n2\n{}\r\n0\r\n\r\n`,
    ],
    ['a length that is no number', `${webhook}Content-Length: +5\r\n\r\nhello`],
    ['a folded header', `GET / HTTP/1.1\r\n${HOST}X-A: b\r\n c\r\n\r\n`],
    ['no host', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['two hosts', `GET /healthz HTTP/1.1\r\n${HOST}${HOST}Connection: close\r\n\r\n`],
  ])('%s', async (_name, text) => {
    reached.length = 0;
    expect(await refusalOf(text)).toBe('400 bad-request');
    expect(reached).toEqual([]);
  });

  test('nothing that follows a smuggled request gets a response', async () => {
    const smuggled = `GET /api/v1/leads HTTP/1.1\r\n${HOST}\r\n`;
    const received = await exchange(
      `${webhook}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
    );
    expect(received.match(/HTTP\/1\.1 \d/g)).toHaveLength(1);
  });
});

describe('this is no proxy and knows HTTP/1.1 only', () => {
  test.each(['a.example:443', '127.0.0.1:22', '/healthz', ':'])('CONNECT %s', async (target) => {
    const text = `CONNECT ${target} HTTP/1.1\r\n${HOST}\r\n`;
    const received = await exchange(text);
    expect(problemIn(received).headers['allow']).toBe('DELETE, GET, HEAD, PATCH, POST, PUT');
    expect(await refusalOf(text)).toBe('405 method-not-allowed');
  });

  test('what comes through a tunnel that was not opened is not read', async () => {
    reached.length = 0;
    const hidden = `${webhook}Content-Length: 2\r\n\r\n{}`;
    expect(await refusalOf(`CONNECT a.example:443 HTTP/1.1\r\n${HOST}\r\n${hidden}`)).toBe(
      '405 method-not-allowed',
    );
    expect(reached).toEqual([]);
  });

  test('a CONNECT never takes the place of the response to the request before it', async () => {
    const call = `${webhook}Content-Length: 2\r\n\r\n{}`;
    const received = await exchange(`${call}CONNECT a.example:443 HTTP/1.1\r\n${HOST}\r\n`);
    expect(received.slice(0, 12)).not.toBe('HTTP/1.1 405');
  });

  test('a client that goes away after its CONNECT harms nobody', async () => {
    const socket = connect(port, '127.0.0.1');
    socket.write(`CONNECT a.example:443 HTTP/1.1\r\n${HOST}\r\n`);
    socket.resetAndDestroy();
    const response = await fetch(`http://127.0.0.1:${port}/problems/overloaded`);
    expect(response.status).toBe(200);
  });

  test.each(['websocket', 'h2c', 'TLS/1.2'])(
    'an upgrade to %s is passed over, the call is answered as ever',
    async (protocol) => {
      reached.length = 0;
      const upgrade = `Connection: upgrade, close\r\nUpgrade: ${protocol}\r\n`;
      const read = await exchange(`GET /problems/overloaded HTTP/1.1\r\n${HOST}${upgrade}\r\n`);
      expect(read).toMatch(/^HTTP\/1\.1 200 /);
      const written = await exchange(`${webhook}${upgrade}Content-Length: 2\r\n\r\n{}`);
      expect(written).toMatch(/^HTTP\/1\.1 202 /);
      expect(reached).toEqual(['{}']);
    },
  );

  test.each(['200-ok', '100-continue, 200-ok'])(
    'an expectation that nobody knows (%s) is passed over',
    async (expectation) => {
      reached.length = 0;
      const response = await exchange(
        `${webhook}Connection: close\r\nExpect: ${expectation}\r\nContent-Length: 2\r\n\r\n{}`,
      );
      expect(response).toMatch(/^HTTP\/1\.1 (?:100 Continue\r\n\r\nHTTP\/1\.1 )?202 /);
      expect(reached).toEqual(['{}']);
    },
  );

  test('an expectation changes nothing in how a request is refused', async () => {
    const call = `GET /nowhere HTTP/1.1\r\n${HOST}Connection: close\r\nExpect: 200-ok\r\n\r\n`;
    expect(await refusalOf(call)).toBe('404 not-found');
  });

  test('HTTP/2 without asking', async () => {
    expect(await refusalOf('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')).toBe('400 bad-request');
  });
});

describe('what is too large', () => {
  test('headers of more than 16 KiB', async () => {
    expect(await refusalOf(`GET / HTTP/1.1\r\n${HOST}X-A: ${'a'.repeat(17_000)}\r\n\r\n`)).toBe(
      '431 headers-too-large',
    );
  });

  test('many headers', async () => {
    expect(
      await refusalOf(
        `GET / HTTP/1.1\r\n${HOST}${'X-A: aaaaaaaaaaaaaaaaaaaa\r\n'.repeat(1000)}\r\n`,
      ),
    ).toBe('431 headers-too-large');
  });

  test.each([9000, 20_000])('an address of %i characters', async (length) => {
    expect(
      await refusalOf(`GET /${'a'.repeat(length)} HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`),
    ).toBe('414 uri-too-long');
  });

  test('one part of a path', async () => {
    expect(
      await refusalOf(
        `GET /api/v1/leads/${'1'.repeat(2000)} HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`,
      ),
    ).toBe('414 uri-too-long');
  });

  test('a body by its announced length, before it is read', async () => {
    expect(await refusalOf(`${webhook}Connection: close\r\nContent-Length: 26214401\r\n\r\n`)).toBe(
      '413 payload-too-large',
    );
  });
});

test('a body that is cut off is no mistake of ours', async () => {
  const socket = connect(port, '127.0.0.1');
  socket.write(`${webhook}Content-Length: 10\r\n\r\n{"a"`);
  socket.resetAndDestroy();
  const response = await fetch(`http://127.0.0.1:${port}/problems/overloaded`);
  expect(response.status).toBe(200);
});

test('a persistent connection serves one request after the other', async () => {
  const get = `GET /problems/overloaded HTTP/1.1\r\n${HOST}`;
  const received = await exchange(`${get}\r\n${get}Connection: close\r\n\r\n`);
  expect(received.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
});

test('nothing of all this is logged as a mistake of ours', () => {
  expect(mistakes).toEqual([]);
});

test('a body that is too large is read past, so that its sender gets the response', async () => {
  // 26 MiB take a moment: none of the short limits of the other tests.
  const patient = buildTestApp({
    trackerWebhook: {
      verify: () => Promise.reject(new Error()),
      onTrackerEvent: () => undefined,
      onRefused: () => undefined,
      settled: async () => {},
    },
  });
  onTestFinished(() => patient.close());
  const { port } = new URL(await patient.listen({ port: 0, host: '127.0.0.1' }));
  const bytes = 26 * 1024 * 1024;
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect(Number(port), '127.0.0.1');
  let received = '';
  socket.on('error', reject);
  socket.on('close', () => reject(new Error(`closed after: ${received}`)));
  socket.on('data', (chunk) => {
    const isFirst = received === '';
    received += chunk.toString('latin1');
    if (isFirst) {
      socket.write(Buffer.alloc(bytes, 0x20));
      socket.write('GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n');
    } else if (received.includes('HTTP/1.1 404')) resolve(received);
  });
  socket.write(
    `POST /api/v1/webhooks/github HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`,
  );
  expect(await promise).toMatch(
    /^HTTP\/1\.1 413 [\s\S]*"code":"payload-too-large"[\s\S]*HTTP\/1\.1 404 /,
  );
  socket.removeAllListeners('close').destroy();
});
