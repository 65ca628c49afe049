import { afterEach, expect, test } from 'vitest';
import type { HttpApp } from '#http/http-app.ts';
import type { Log, LogFields } from '#shared/log.ts';
import { buildTestApp } from '../support/app.ts';
import { fakeLeads, GOOD_KEY, withKey } from '../support/http-leads.ts';

type Line = { level: string; fields: LogFields; message: string };

let app: HttpApp;
afterEach(() => app.close());

function serve(): Line[] {
  const lines: Line[] = [];
  const at =
    (level: string) =>
    (fields: LogFields, message: string): void => {
      lines.push({ level, fields, message });
    };
  const log: Log = {
    isDebug: () => true,
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
  };
  app = buildTestApp({ leads: fakeLeads(), log });
  return lines;
}

test('a successful read is one line for debugging, with ids and without what was asked', async () => {
  const lines = serve();
  const answer = await app.inject({
    url: '/api/v1/leads?label=ada%40example.com&cursor=private',
    headers: { ...withKey, 'x-request-id': 'client-1', cookie: 'session=private' },
  });
  expect(lines).toEqual([
    {
      level: 'debug',
      message: 'request answered',
      fields: {
        requestId: answer.headers['x-request-id'],
        method: 'GET',
        route: '/api/v1/leads',
        status: 200,
        durationMs: expect.any(Number),
        clientRequestId: 'client-1',
        consumerId: 'consumer-1',
        keyId: 'key-1',
      },
    },
  ]);
});

test('a refusal is told with its code, and neither key nor query nor path', async () => {
  const lines = serve();
  await app.inject({ url: '/api/v1/leads?since=private', headers: withKey });
  await app.inject({ url: '/api/v1/leads?x=private', headers: { 'x-api-key': 'tpk_private' } });
  await app.inject('/private/ada@example.com?token=private');
  await app.inject('/api/v1/leads/%zz-private');
  expect(
    lines.map(({ level, fields }) => [level, fields['status'], fields['code'], fields['route']]),
  ).toEqual([
    ['info', 400, 'validation-failed', '/api/v1/leads'],
    ['info', 401, 'unauthorized', '/api/v1/leads'],
    ['info', 404, 'not-found', 'unknown'],
    ['info', 400, 'bad-request', 'unknown'],
  ]);
  expect(JSON.stringify(lines)).not.toMatch(new RegExp(`private|example|${GOOD_KEY}`));
});

test.each(['a'.repeat(129), 'with space', 'tab\there', 'umlaut-ü'])(
  "a caller's request id %j is not taken into the log, and ours is always new",
  async (given) => {
    const lines = serve();
    const call = () =>
      app.inject({ url: '/problems/overloaded', headers: { 'x-request-id': given } });
    const ids = [(await call()).headers['x-request-id'], (await call()).headers['x-request-id']];
    expect(new Set(ids).size).toBe(2);
    expect(lines.every(({ fields }) => fields['clientRequestId'] === undefined)).toBe(true);
  },
);
