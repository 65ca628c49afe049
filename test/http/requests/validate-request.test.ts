import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { HttpApp } from '#http/context.ts';
import { buildTestApp } from '../../support/http/app.ts';

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

test('every wrong part of every kind is named in one response', async () => {
  const response = await post(
    '/things/toolong?versoin=1',
    { titel: 'x', members: [{ id: 1 }, { id: 'a', 'b/c~d': 2 }] },
    { 'idempotency-key': 'much too long' },
  );
  expect(response.statusCode).toBe(400);
  expect(response.json().errors).toMatchObject([
    { parameter: 'id', detail: '`id` must have at most 3 characters.' },
    { parameter: 'versoin', code: 'unknown', detail: expect.stringContaining('`version`?') },
    { header: 'Idempotency-Key', code: 'out-of-range' },
    { pointer: '#/title', code: 'missing', detail: '`title` is required.' },
    { pointer: '#/members/0/id', code: 'invalid' },
    { pointer: '#/members/1/b~1c~0d', code: 'unknown' },
    { pointer: '#/titel', code: 'unknown', detail: expect.stringContaining('`title`?') },
  ]);
});

test('what has no name that can be shown is told by the part that it is in', async () => {
  const long = 'n'.repeat(300);
  const response = await post(`/things/a?=1&${long}=1`, { title: 'x', '': 1, [long]: 1 });
  const { errors } = response.json() as { errors: { detail: string }[] };
  expect(errors.map(({ detail }) => detail)).toEqual([
    'An empty name is not known here. Known here: `version`.',
    'The query has a name of more than 256 characters, which is not known here.',
    'An empty name is not known here. Known here: `title`, `members`.',
    'The body has a name of more than 256 characters, which is not known here.',
  ]);
});

test('a name is echoed without what could harm a terminal or a page', async () => {
  const response = await post(`/things/a?${encodeURIComponent('\u001b[31m`<script>é')}=1`, {
    title: 'x',
  });
  const { errors } = response.json();
  expect(errors[0].detail).toMatch(/^`[\x20-\x7e]+` is not known here\./);
});

describe('what a library would say', () => {
  const parts = z.strictObject({
    text: z.string().min(2).max(3),
    shaped: z.string().regex(/^a+$/),
    id: z.uuid(),
    at: z.iso.datetime(),
    whole: z.int().min(1).max(2),
    number: z.number().multipleOf(2),
    flag: z.boolean(),
    one: z.enum(['a', 'b']),
    only: z.literal('x'),
    list: z.array(z.string()).min(1).max(2),
    object: z.strictObject({ a: z.string() }),
    record: z.record(z.string().regex(/^k/), z.int()),
    either: z.union([z.string(), z.strictObject({ b: z.int() })]),
    own: z.string().refine((text) => text === 'own'),
    nothing: z.null(),
  });
  const values = [
    undefined,
    null,
    true,
    0,
    1.5,
    3,
    1e300,
    '',
    'x',
    'xxxx',
    [],
    [[], 1, 2],
    {},
    { z: 1 },
  ];

  function serveParts(): HttpApp {
    app = buildTestApp();
    app.register(async (scope) => {
      scope.post('/parts', { schema: { body: parts } }, async () => ({}));
    });
    return app;
  }

  test('is said in our own words, whatever is wrong', async () => {
    const server = serveParts();
    const send = (payload: unknown) =>
      server.inject({
        method: 'POST',
        url: '/parts',
        payload: JSON.stringify(payload ?? null),
        headers: { 'content-type': 'application/json' },
      });
    const bodies = values.map((value) =>
      Object.fromEntries(Object.keys(parts.shape).map((name) => [name, value])),
    );
    const details = new Set<string>();
    for (const body of [...values, ...bodies]) {
      const response = await send(body);
      expect(response.statusCode).toBe(400);
      for (const { detail } of response.json().errors) details.add(detail);
    }
    expect(details.size).toBeGreaterThan(25);
    for (const detail of details) {
      expect(detail).toMatch(/^(?:`[^`]+`|The body) (?:must|is) .*[.?]$/);
      expect(detail).not.toMatch(/invalid|expected|received|too (?:small|big)|unrecognized/i);
    }
  });

  test('says what kind of value is wanted', async () => {
    const response = await serveParts().inject({
      method: 'POST',
      url: '/parts',
      payload: JSON.stringify({ text: 'x', whole: 7, list: {}, object: 'a', only: 1, one: 2 }),
      headers: { 'content-type': 'application/json' },
    });
    expect(response.json().errors.map(({ detail }: { detail: string }) => detail)).toEqual(
      expect.arrayContaining([
        '`text` must have at least 2 characters.',
        '`whole` must be at most 2.',
        '`list` must be a list.',
        '`object` must be an object.',
        '`only` must be `x`.',
        '`one` must be one of `a`, `b`.',
        '`shaped` is required.',
      ]),
    );
  });
});

describe('a name that is not known', () => {
  const query = z.strictObject(
    Object.fromEntries(
      ['limit', 'cursor', 'since', 'state', 'label', 'type', 'q', 'externalId'].map((name) => [
        name,
        z.string().optional(),
      ]),
    ),
  );

  async function hintFor(name: string): Promise<string | undefined> {
    app = buildTestApp();
    app.register(async (scope) => {
      scope.get('/list', { schema: { querystring: query } }, async () => ({}));
    });
    const response = await app.inject(`/list?${name}=1`);
    await app.close();
    return /Did you mean `(\w+)`\?/.exec(response.json().errors[0].detail)?.[1];
  }

  test.each([
    ['limt', 'limit'],
    ['Limit', 'limit'],
    ['labels', 'label'],
    ['external_id', 'externalId'],
    ['per_page', 'limit'],
    ['page', 'cursor'],
    ['after', 'cursor'],
    ['status', 'state'],
    ['search', 'q'],
  ])('%s may mean %s', async (name, meant) => {
    expect(await hintFor(name)).toBe(meant);
  });

  test.each(['size2', 'sort', 'lead', 'crm', 'pace', 'time'])(
    '%s is near nothing in letters and meaning',
    async (name) => {
      expect(await hintFor(name)).toBeUndefined();
    },
  );

  test('in a part of the body gets the names that are known there', async () => {
    const response = await post('/things/a', { title: 'x', members: [{ id: 'a', idd: 'b' }] });
    expect(response.json().errors).toMatchObject([
      {
        pointer: '#/members/0/idd',
        detail: '`members.0.idd` is not known here. Did you mean `id`?',
      },
    ]);
  });
});

describe('a body', () => {
  test.each([
    ['nothing', ''],
    ['two texts', '{"title":"x"}{}'],
    ['a __proto__ key', '{"title":"x","__proto__":{}}'],
    ['an escaped __proto__ key', '{"title":"x","\\u005f_proto__":{}}'],
    ['a name twice', '{"title":"x","ti\\u0074le":"y"}'],
    ['65 levels', `${'['.repeat(65)}${']'.repeat(65)}`],
  ])('with %s is malformed', async (_name, payload) => {
    const response = await post('/things/a', payload);
    expect(response.statusCode).toBe(400);
    expect(response.json().code).toBe('malformed-json');
  });

  test('that is not UTF-8 is malformed', async () => {
    const response = await serve().inject({
      method: 'POST',
      url: '/things/a',
      payload: Buffer.from('{"title":"\xff"}', 'latin1'),
      headers: { 'content-type': 'application/json' },
    });
    expect(response.json().code).toBe('malformed-json');
  });

  test.each(['null', '[]'])('%s is not valid here', async (payload) => {
    const response = await post('/things/a', payload);
    expect(response.statusCode).toBe(400);
    expect(response.json()).toMatchObject({
      code: 'validation-failed',
      errors: [{ pointer: '#' }],
    });
  });

  test('of more than 1 MiB is 413', async () => {
    const response = await post('/things/a', { title: 'x'.repeat(1024 * 1024) });
    expect(response.statusCode).toBe(413);
    expect(response.json().code).toBe('payload-too-large');
  });

  test('of more than 10,000 members and elements is 413', async () => {
    const of = (count: number) => ({ title: 'x', members: Array.from({ length: count }, () => 1) });
    const response = await post('/things/a', of(10_001));
    expect(response.statusCode).toBe(413);
    expect(response.json().detail).toBe('The JSON has more than 10000 members and elements.');
    expect((await post('/things/a', of(9000))).statusCode).toBe(400);
  });

  test('with very much that is wrong gets the first hundred parts, and the one after them', async () => {
    const names = Object.fromEntries(Array.from({ length: 9000 }, (_, at) => [`k${at}`, 1]));
    const members = Array.from({ length: 9000 }, () => 1);
    for (const body of [
      { title: 'x', ...names },
      { title: 'x', members },
    ]) {
      const { errors } = (await post('/things/a', body)).json();
      expect(errors).toHaveLength(101);
      expect(errors[0].code).not.toBe('more');
      expect(errors[100].code).toBe('more');
      expect(errors[100].pointer).toMatch(/^#\/(k100|members\/100)$/);
    }
  });

  test('with an endless name is reported without it', async () => {
    const name = 'n'.repeat(500_000);
    const response = await post('/things/a', {
      title: 'x',
      [name]: 1,
      members: [{ id: 'a', [name]: 1 }],
    });
    const detail = expect.stringContaining('has a name of more than 256 characters');
    expect(response.json().errors).toMatchObject([
      { pointer: '#/members/0', code: 'unknown', detail },
      { pointer: '#', code: 'unknown', detail },
    ]);
    expect(response.body.length).toBeLessThan(2000);
  });

  test('that is missing is named', async () => {
    const response = await serve().inject({ method: 'POST', url: '/things/a' });
    expect(response.statusCode).toBe(400);
    expect(response.json().errors).toMatchObject([{ pointer: '#' }]);
  });
});
