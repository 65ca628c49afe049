import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { action } from '#portal/routes/action-route.ts';
import { MINUTE } from '#shared/clock.ts';
import { createIdempotency, type Idempotency } from '#shared/idempotency.ts';
import { createFakeClock } from '../../support/clock.ts';
import { temporaryDatabase } from '../../support/stores.ts';
import { SESSION_COOKIE } from '../../support/portal/portal.ts';
import { things } from '../../support/portal/things.ts';
import { startPortal } from '../../support/world.ts';

describe('a page', () => {
  test('leads to sign-in when nobody is signed in, and back to itself', async () => {
    const { browser } = startPortal(things());
    const response = await browser().get('/portal/things?q=a%20b');
    expect(response.status).toBe(303);
    expect(response.location).toBe('/portal/sign-in?to=%2Fportal%2Fthings%3Fq%3Da%2520b');
    expect(response.headers['cache-control']).toBe('no-store');
  });

  test('shows what its handler made, to be stored nowhere and framed by nobody', async () => {
    const { signIn } = startPortal(things());
    const { status, body, headers } = await (await signIn()).get('/portal/things?q=%3Cb%3E');
    expect(status).toBe(200);
    expect(body).toContain('q=&lt;b&gt;');
    expect(body).toMatch(/q=&lt;b&gt;.*<strong>Olga</s);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'same-origin',
    });
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
  });

  test('refuses who lacks its scope, what its query does not know, and what cannot exist', async () => {
    const { signIn } = startPortal(things());
    const reader = await signIn(['catalog:read']);
    const refused = await reader.get('/portal/things');
    expect(refused).toMatchObject({ status: 403 });
    // Not the page that asks for a sign-in: to who is signed in it shows nothing.
    expect(refused.body).toContain('/portal/sign-in/start">Sign in again');
    const admin = await signIn();
    expect(await admin.get('/portal/things?colour=red')).toMatchObject({ status: 400 });
    expect(await admin.get('/portal/things/abc')).toMatchObject({ status: 404 });
    expect(await admin.get('/portal/things/12')).toMatchObject({ status: 200 });
  });

  test('of an ended session is one of nobody', async () => {
    const { signIn, clock } = startPortal(things());
    const admin = await signIn();
    await clock.advance(29 * 60_000);
    expect(await admin.get('/portal/things')).toMatchObject({ status: 200 });
    await clock.advance(29 * 60_000);
    expect(await admin.get('/portal/things')).toMatchObject({ status: 200 });
    await clock.advance(30 * 60_000);
    expect(await admin.get('/portal/things')).toMatchObject({ status: 303 });
  });
});

describe('an action', () => {
  test('leads to its page, which shows notice and secret once', async () => {
    const renamed: string[] = [];
    const { signIn } = startPortal(things(renamed));
    const admin = await signIn();
    const { status, location = '' } = await admin.post('/portal/things/7/name', { name: 'seven' });
    expect(status).toBe(303);
    expect(location).toMatch(/^\/portal\/things\/7\?from=form&once=[\w-]{22}#end$/);
    expect(renamed).toEqual([
      '7 seven {"kind":"token","subject":"operator-1","clientId":"portal"}',
    ]);
    const path = location.replace('?from=form&', '?').replace('#end', '');
    const first = await admin.get(path);
    expect(first.body).toMatch(/Renamed\..*>s3cret</s);
    expect(first.body).toContain('href="/portal/things/7"');
    const again = await admin.get(path);
    expect(again).toMatchObject({ status: 200 });
    expect(again.body).not.toMatch(/Renamed|s3cret/);
  });

  test('keeps what is shown once until there is a page to show it on', async () => {
    const { signIn } = startPortal(things());
    const admin = await signIn();
    const { location = '' } = await admin.post('/portal/things/7/name', { name: 'seven' });
    const path = location.replace('?from=form&', '?').replace('#end', '');
    expect(await admin.get(path.replace('/7', '/no-id'))).toMatchObject({ status: 404 });
    expect((await admin.get(path)).body).toContain('s3cret');
  });

  test('shows a secret to nobody else, and only for a while', async () => {
    const { signIn, clock } = startPortal(things());
    const admin = await signIn();
    const { location = '' } = await admin.post('/portal/things/7/name', { name: 'seven' });
    const path = location.replace('?from=form&', '?').replace('#end', '');
    expect((await (await signIn()).get(path)).body).not.toContain('s3cret');
    await clock.advance(10 * 60_000);
    expect((await admin.get(path)).body).not.toContain('s3cret');
  });

  test('shows the form again with what was typed, whoever found the problem', async () => {
    const { signIn } = startPortal(things());
    const admin = await signIn();
    const post = (name: string) => admin.post('/portal/things/7/name', { name });
    const short = await post('<i');
    expect(short).toMatchObject({ status: 422 });
    expect(short.body).toMatch(/<title>Error: Thing .*value="&lt;i".*#\/name out-of-range/s);
    expect((await post('taken')).body).toMatch(/value="taken".*#\/name taken Is taken\./s);
    expect((await post('stale')).body).toMatch(/value="stale".*precondition-failed Old\./s);
    expect(await post('absent')).toMatchObject({ status: 404 });
    const unknown = await admin.post('/portal/things/7/name', { name: 'seven', colour: 'red' });
    expect(unknown).toMatchObject({ status: 422 });
    expect(unknown.body).toContain('#/colour unknown');
  });

  test('takes lists, and refuses what is no form or too long', async () => {
    const renamed: string[] = [];
    const { signIn } = startPortal(things(renamed));
    const admin = await signIn();
    const post = (fields: Record<string, string | string[]>, headers = {}) =>
      admin.post('/portal/things/7/name', fields, { headers });
    expect(await post({ name: 'seven', tags: ['a', 'b'] })).toMatchObject({ status: 303 });
    const large = await post({ name: 'x'.repeat(70_000) });
    expect(large).toMatchObject({ status: 413 });
    expect(large.body).toContain('open the form again'); // *Back* leads to an empty one, too
    const json = await post({ name: 'seven' }, { 'content-type': 'application/json' });
    expect(json).toMatchObject({ status: 415 });
    expect(json.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(renamed).toHaveLength(1);
  });
});

test('a form that comes again while it is done waits for that, and leads where it leads', async () => {
  const store = createIdempotency({ db: temporaryDatabase(), clock: createFakeClock() });
  const { promise: bothCame, resolve } = Promise.withResolvers<void>();
  let came = 0;
  let runs = 0;
  const respond: Idempotency['respond'] = (request, work) => {
    const responding = store.respond(request, work);
    came += 1;
    if (came === 2) resolve();
    return responding;
  };
  const once = action({
    path: '/portal/things',
    form: z.object({}),
    run: async () => {
      runs += 1;
      await bothCame;
      return { location: `/portal/things/${runs}` };
    },
  });
  const { signIn } = startPortal([once], { context: { idempotency: { respond } } });
  const admin = await signIn();
  const send = () => admin.post('/portal/things', { formId: 'f'.repeat(22) });
  const done = { status: 303, location: '/portal/things/1' };
  expect(await Promise.all([send(), send()])).toMatchObject([done, done]);
});

test('a form with a long text that was changed is another, also where that is as long', async () => {
  const specs: string[] = [];
  const save = action({
    path: '/portal/things',
    form: z.object({ spec: z.string() }),
    formBytesMax: 256 * 1024,
    run: async (_context, { form }) => {
      specs.push(form.spec.charAt(0));
      return { location: '/portal/things' };
    },
  });
  const idempotency = createIdempotency({ db: temporaryDatabase(), clock: createFakeClock() });
  const { signIn } = startPortal([save], { context: { idempotency } });
  const admin = await signIn();
  for (const sign of ['1', '2', '2'])
    await admin.post('/portal/things', { formId: 'f'.repeat(22), spec: sign.repeat(70_000) });
  expect(specs).toEqual(['1', '2']);
});

test('a form that comes again later is done again: somebody went back to its page, and means it', async () => {
  const clock = createFakeClock();
  let runs = 0;
  const disable = action({
    path: '/portal/things',
    form: z.object({}),
    run: async () => {
      runs += 1;
      return { location: `/portal/things/${runs}` };
    },
  });
  const idempotency = createIdempotency({ db: temporaryDatabase(), clock });
  const { signIn } = startPortal([disable], { context: { idempotency } });
  const admin = await signIn();
  const locations: unknown[] = [];
  for (const ms of [0, MINUTE, 1, MINUTE]) {
    await clock.advance(ms);
    const { location } = await admin.post('/portal/things', { formId: 'f'.repeat(22) });
    locations.push(location);
  }
  expect(locations.map((location) => String(location).at(-1))).toEqual(['1', '1', '2', '2']);
});

test('an action is for those with its scope alone', async () => {
  const renamed: string[] = [];
  const { signIn } = startPortal(things(renamed));
  const others = await signIn(['catalog:read', 'catalog:write', 'catalog:publish']);
  const refused = await others.post('/portal/things/7/name', { name: 'seven' });
  expect(refused).toMatchObject({ status: 403 });
  expect(renamed).toEqual([]);
});

describe('a stolen form is refused and changes nothing', () => {
  const steal = async (
    formToken: string | null | undefined,
    headers: Record<string, string | undefined> = {},
  ) => {
    const renamed: string[] = [];
    const { signIn } = startPortal(things(renamed));
    const admin = await signIn();
    const response = await admin.post(
      '/portal/things/7/name',
      { name: 'seven' },
      { ...(formToken !== undefined && { formToken }), headers },
    );
    return { ...response, renamed };
  };

  test.each([
    ['of another origin', undefined, { origin: 'https://evil.example' }],
    ['of an origin that says nothing', undefined, { origin: 'null' }],
    ['of the same host by http', undefined, { origin: 'http://adapter.example.com' }],
    ['of another site', undefined, { origin: undefined, 'sec-fetch-site': 'cross-site' }],
    ['of a sister site', undefined, { 'sec-fetch-site': 'same-site' }],
    ['without a token', null, {}],
    ['with an empty token', '', {}],
    ['with a token of nobody', 'A'.repeat(43), {}],
  ])('%s', async (_how, formToken, headers) => {
    const { body, ...stolen } = await steal(formToken, headers);
    expect(stolen).toMatchObject({ status: 403, renamed: [] });
    expect(body).not.toContain('insufficient-scope');
  });

  test('of another person', async () => {
    const renamed: string[] = [];
    const { signIn } = startPortal(things(renamed));
    const thief = await signIn(['trackport:admin'], {
      principal: { subject: 'thief', scopes: ['trackport:admin'], workspaceId: 'default' },
    });
    const formToken = await thief.formToken();
    const owner = await signIn();
    const posted = owner.post('/portal/things/7/name', { name: 'seven' }, { formToken });
    expect(await posted).toMatchObject({ status: 403 });
    expect(renamed).toEqual([]);
  });

  test('of a session that was signed out', async () => {
    const renamed: string[] = [];
    const { signIn } = startPortal(things(renamed));
    const admin = await signIn();
    const formToken = await admin.formToken();
    await admin.post('/portal/sign-out');
    const over = await admin.post('/portal/things/7/name', { name: 'seven' }, { formToken });
    expect(over).toMatchObject({ status: 403 });
    expect(await admin.get('/portal/things')).toMatchObject({ status: 303 });
    expect(renamed).toEqual([]);
  });

  test('of an earlier session', async () => {
    const renamed: string[] = [];
    const { signIn, clock } = startPortal(things(renamed));
    const admin = await signIn();
    const formToken = await admin.formToken();
    await clock.advance(30 * 60_000);
    const over = await admin.post('/portal/things/7/name', { name: 'seven' }, { formToken });
    expect(over).toMatchObject({ status: 403 });
    expect(over.body).toContain('Nothing was done: your session ended');
    expect(over.headers['set-cookie']).toBe(
      `${SESSION_COOKIE}=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax`,
    );
    const again = await signIn();
    const back = await again.post('/portal/things/7/name', { name: 'seven' }, { formToken });
    expect(back.status).toBe(403);
    // The text that was typed is there still, to be sent again.
    expect(back.body).toMatch(/value="seven".*signed-in-anew Your session ended/s);
    expect(renamed).toEqual([]);
    // Nobody knows where that came from.
    const headers = { origin: undefined, 'sec-fetch-site': undefined };
    const unknown = await again.post(
      '/portal/things/7/name',
      { name: 'seven' },
      { formToken, headers },
    );
    expect(unknown.body).not.toContain('value="seven"');
  });

  test('but one of a browser that says nothing of its origin is decided by its token', async () => {
    const silent = { origin: undefined, 'sec-fetch-site': undefined };
    expect(await steal(undefined, silent)).toMatchObject({ status: 303 });
    expect(await steal(null, silent)).toMatchObject({ status: 403, renamed: [] });
  });
});
