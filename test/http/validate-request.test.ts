import { afterEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { HttpApp } from '#http/http-app.ts';
import { buildTestApp } from '../support/app.ts';

let app: HttpApp;
afterEach(() => app.close());

/** A server with one route that takes everything, and echoes what became of it. */
function serve(): HttpApp {
  app = buildTestApp();
  app.register(async (scope) => {
    scope.post(
      '/things/:id',
      {
        schema: {
          params: z.object({ id: z.string().max(3, 'must have at most 3 characters') }),
          querystring: z.strictObject({ version: z.string('must be text').optional() }),
          headers: z.object({ 'Idempotency-Key': z.string().max(5).optional() }),
          body: z.strictObject({
            title: z.string(),
            members: z.array(z.strictObject({ id: z.string() })).optional(),
          }),
        },
      },
      async (request) => request.body,
    );
  });
  return app;
}

const post = (url: string, payload: unknown, headers: Record<string, string> = {}) =>
  serve().inject({
    method: 'POST',
    url,
    payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
    headers: { 'content-type': 'application/json', ...headers },
  });

test('every wrong part of every kind is named in one answer', async () => {
  const answer = await post(
    '/things/toolong?versoin=1',
    { titel: 'x', members: [{ id: 1 }, { id: 'a', 'b/c~d': 2 }] },
    { 'idempotency-key': 'much too long' },
  );
  expect(answer.statusCode).toBe(400);
  expect(answer.json().errors).toMatchObject([
    { parameter: 'id', detail: '`id` must have at most 3 characters.' },
    { parameter: 'versoin', code: 'unknown', detail: expect.stringContaining('`version`?') },
    { header: 'Idempotency-Key', code: 'out-of-range' },
    { pointer: '#/title', code: 'missing', detail: '`title` is required.' },
    { pointer: '#/members/0/id', code: 'invalid' },
    { pointer: '#/members/1/b~1c~0d', code: 'unknown' },
    { pointer: '#/titel', code: 'unknown', detail: expect.stringContaining('`title`?') },
  ]);
});

test('what is right goes through', async () => {
  const answer = await post('/things/a?version=2', { title: 'x' });
  expect(answer.statusCode).toBe(200);
  expect(answer.json()).toEqual({ title: 'x' });
});

test('a name is echoed without what could harm a terminal or a page', async () => {
  const answer = await post(`/things/a?${encodeURIComponent('\u001b[31m`<script>é')}=1`, {
    title: 'x',
  });
  const { errors } = answer.json();
  expect(errors[0].detail).toMatch(/^`[\x20-\x7e]+` is not known here\./);
});

describe('a body', () => {
  test.each([
    ['nothing', ''],
    ['half a text', '{"title": "x"'],
    ['two texts', '{"title":"x"}{}'],
    ['a __proto__ key', '{"title":"x","__proto__":{}}'],
    ['an escaped __proto__ key', '{"title":"x","\\u005f_proto__":{}}'],
    ['a name twice', '{"title":"x","ti\\u0074le":"y"}'],
    ['65 levels', `${'['.repeat(65)}${']'.repeat(65)}`],
  ])('with %s is malformed', async (_name, payload) => {
    const answer = await post('/things/a', payload);
    expect(answer.statusCode).toBe(400);
    expect(answer.json().code).toBe('malformed-json');
  });

  test('that is not UTF-8 is malformed', async () => {
    const answer = await serve().inject({
      method: 'POST',
      url: '/things/a',
      payload: Buffer.from('{"title":"\xff"}', 'latin1'),
      headers: { 'content-type': 'application/json' },
    });
    expect(answer.json().code).toBe('malformed-json');
  });

  test.each(['null', '1', '"x"', '[]'])('%s is not valid here', async (payload) => {
    const answer = await post('/things/a', payload);
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({ code: 'validation-failed', errors: [{ pointer: '#' }] });
  });

  test('of more than 1 MiB is 413', async () => {
    const answer = await post('/things/a', { title: 'x'.repeat(1024 * 1024) });
    expect(answer.statusCode).toBe(413);
    expect(answer.json().code).toBe('payload-too-large');
  });

  test('that is missing is named', async () => {
    const answer = await serve().inject({ method: 'POST', url: '/things/a' });
    expect(answer.statusCode).toBe(400);
    expect(answer.json().errors).toMatchObject([{ pointer: '#' }]);
  });
});
