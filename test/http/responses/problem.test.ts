import { afterEach, describe, expect, test } from 'vitest';
import type { HttpApp } from '#http/context.ts';
import { fromParserError, renderProblem, toTrackportError } from '#http/responses/problem.ts';
import { errorCodes, problems } from '#shared/outcomes/problems.ts';
import { type ErrorCode, TrackportError } from '#shared/errors.ts';
import { type Log, type LogFields, silentLog } from '#shared/log.ts';
import { buildTestApp, PUBLIC_URL } from '../../support/http/app.ts';
import { fakeLeads, withKey } from '../../support/http/leads.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

let app: HttpApp;
afterEach(() => app.close());

/** A server whose reads fail with the error. */
function failing(failure: Error, log: Log = silentLog): HttpApp {
  app = buildTestApp({ ...fakeLeads({ failure }), log });
  return app;
}

describe.each(errorCodes)('%s', (code) => {
  test('becomes its whole problem document', async () => {
    const failure = new TrackportError(code, { detail: 'What happened.' });
    const response = await failing(failure).inject({ url: '/api/v1/leads', headers: withKey });
    const { status, title } = problems[code];
    const requestId = String(response.headers['x-request-id']);
    expect(requestId).toMatch(UUID);
    expect(response.statusCode).toBe(status);
    expect(response.headers['content-type']).toBe('application/problem+json');
    expect(response.json()).toEqual({
      type: `${PUBLIC_URL}/problems/${code}`,
      title,
      status,
      detail: 'What happened.',
      instance: `urn:uuid:${requestId}`,
      code,
    });
    expect(response.headers['retry-after']).toBe(status === 503 ? '5' : undefined);
  });
});

test('facts of an error become members and headers, and can replace none of the standard ones', async () => {
  const failure = new TrackportError('version-exists', {
    detail: 'Taken.',
    retryAfterSeconds: 0.2,
    challenge: 'ApiKey',
    errors: [{ pointer: '#/version', code: 'taken', detail: 'Taken.' }],
    extensions: { current: 'DRAFT', allowed: ['publish'], status: 200, code: 'fine' },
  });
  const response = await failing(failure).inject({ url: '/api/v1/leads', headers: withKey });
  expect(response.statusCode).toBe(409);
  expect(response.json()).toMatchObject({
    status: 409,
    code: 'version-exists',
    current: 'DRAFT',
    allowed: ['publish'],
    errors: [{ pointer: '#/version', code: 'taken', detail: 'Taken.' }],
  });
  expect(response.headers['retry-after']).toBe('1');
  expect(response.headers['www-authenticate']).toBe('ApiKey');
});

test('a mistake of ours shows the client nothing, and the log where it was but not what it said', async () => {
  const lines: [string, LogFields, string][] = [];
  const log: Log = {
    isDebug: () => true,
    debug: (...line) => lines.push(['debug', ...line]),
    info: (...line) => lines.push(['info', ...line]),
    warn: (...line) => lines.push(['warn', ...line]),
    error: (...line) => lines.push(['error', ...line]),
  };
  const failure = new RangeError('ada@example.com is not a number');
  const response = await failing(failure, log).inject({ url: '/api/v1/leads', headers: withKey });
  expect(response.statusCode).toBe(500);
  expect(response.json().code).toBe('internal-error');
  expect(response.body).not.toMatch(/ada@|RangeError|\.ts/);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject([
    'error',
    {
      requestId: response.headers['x-request-id'],
      route: '/api/v1/leads',
      status: 500,
      code: 'internal-error',
      error: 'RangeError',
      stack: expect.stringContaining('at '),
    },
    'request failed',
  ]);
  expect(JSON.stringify(lines)).not.toContain('ada@example.com');
});

test('a response that breaks its schema is a mistake of ours, not a leak', async () => {
  const lead = { id: 7, title: 'x' } as never;
  app = buildTestApp({ ...fakeLeads({ lead }) });
  const response = await app.inject({ url: '/api/v1/leads/7', headers: withKey });
  expect(response.statusCode).toBe(500);
  expect(response.json().code).toBe('internal-error');
});

describe('what the framework refuses', () => {
  test.each([
    ['GET', '/nowhere', 404, 'not-found'],
    ['GET', '/api/v1/leads/7/', 404, 'not-found'],
    ['GET', '//api/v1/leads', 404, 'not-found'],
    ['POST', '/nowhere', 404, 'not-found'],
    ['GET', '/api/v1/leads/%zz', 400, 'bad-request'],
    ['GET', `/api/v1/leads/${'1'.repeat(2000)}`, 414, 'uri-too-long'],
    ['GET', `/${'a'.repeat(9000)}`, 414, 'uri-too-long'],
  ] as const)('%s %.40s', async (method, url, status, code) => {
    app = buildTestApp({ ...fakeLeads() });
    const response = await app.inject({
      method,
      url,
      ...(method === 'POST' && { payload: '<xml/>', headers: { 'content-type': 'text/xml' } }),
    });
    expect(response.statusCode).toBe(status);
    expect(response.json()).toMatchObject({
      type: `${PUBLIC_URL}/problems/${code}`,
      status,
      code,
      instance: `urn:uuid:${String(response.headers['x-request-id'])}`,
    });
    expect(response.headers['x-content-type-options']).toBe('nosniff');
  });

  test('an unknown problem has no page', async () => {
    app = buildTestApp();
    expect((await app.inject('/problems/nonsense')).statusCode).toBe(404);
    expect((await app.inject('/problems/__proto__')).statusCode).toBe(404);
  });
});

describe('rendering', () => {
  const context = { publicUrl: PUBLIC_URL, requestId: '7d9d9f33-9b25-4366-9223-726f869ce87a' };
  const headersOf = (facts: ConstructorParameters<typeof TrackportError>[1], code: ErrorCode) =>
    renderProblem(context, new TrackportError(code, facts)).headers;

  test('nobody may store a problem', () => {
    expect(headersOf({}, 'not-found')).toEqual({
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
    });
  });

  test('says which credential is wanted, and what is left of a limit', () => {
    expect(headersOf({ challenge: 'Bearer' }, 'unauthorized')['www-authenticate']).toBe('Bearer');
    const limit = { limitPerMinute: 600, remaining: 0, resetSeconds: 59 };
    expect(headersOf({ limit }, 'quota-exceeded')['ratelimit']).toBe('"default";r=0;t=59');
  });

  test.each([
    [0, '1'],
    [1.2, '2'],
    [60, '60'],
  ])('a wait of %d s is sent as %s whole seconds, at least one', (retryAfterSeconds, header) => {
    expect(headersOf({ retryAfterSeconds }, 'overloaded')['retry-after']).toBe(header);
  });
});

const coded = (code: string) => Object.assign(new Error('theirs'), { code });

test('an error of ours stays what it is', () => {
  const ours = new TrackportError('lead-not-found');
  expect(toTrackportError(ours)).toBe(ours);
});

test.each([
  ['FST_ERR_BAD_URL', 'bad-request'],
  ['FST_ERR_MAX_PARAM_LENGTH', 'uri-too-long'],
  ['FST_ERR_CTP_INVALID_MEDIA_TYPE', 'unsupported-media-type'],
])('%s of the framework becomes %s, with its reason', (theirs, code) => {
  const error = coded(theirs);
  expect(toTrackportError(error)).toMatchObject({ code, cause: error });
});

test.each([coded('ENOENT'), 'a text', 7])('%s is a mistake of ours', (error) => {
  const failure = toTrackportError(error);
  expect(failure).toMatchObject({ code: 'internal-error', cause: error });
  expect(failure.detail).not.toContain('theirs');
});

test.each([
  ['HPE_HEADER_OVERFLOW', 'headers-too-large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', 'request-timeout'],
  ['HPE_INVALID_METHOD', 'bad-request'],
])('%s of the parser becomes %s', (theirs, code) => {
  expect(fromParserError(coded(theirs))).toMatchObject({ code });
});
