import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { DAY } from '#shared/clock.ts';
import { catalogRules } from '../../../support/catalog.ts';
import { eventually } from '../../../support/eventually.ts';
import { type Call, openWorld } from '../../../support/world.ts';

const content = { type: 'API', owner: 'team-a', title: 'Pet store' };
const least = { id: 'petstore', ...content };
const specText =
  '{"openapi":"3.1.0","big":12345678901234567890,"none":null,"words":["no","a\\nb"]}';
const yaml = { headers: { accept: 'application/yaml' } };
const any = { 'if-match': '*' };

async function open(facts: object = {}) {
  const opened = openWorld({
    catalog: {
      rules: () => ({ ...catalogRules, findings: 'warn' }),
    },
  });
  await make(opened.callCatalog, facts);
  return { ...opened, call: opened.callCatalog };
}

/** Creates a version with the spec, digit by digit. */
async function make(call: Call, facts: object = {}): Promise<void> {
  const raw = JSON.stringify({ ...least, ...facts }).replace(/\}$/, `,"spec":${specText}}`);
  expect((await call('POST', '', { raw })).status).toBe(201);
}

test('the spec comes alone, byte by byte as it is stored', async () => {
  const { call } = await open();
  const read = await call('GET', '/PetStore/spec?version=1.0.0');
  expect(read.status).toBe(200);
  expect(read.text).toBe(specText);
  expect(read.headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'content-location': '/api/v1/catalog/petstore/spec?version=1.0.0',
    'cache-control': 'private, no-cache',
    vary: 'Authorization, X-API-KEY, Accept',
    etag: expect.stringMatching(/^"[\w-]+"$/),
  });
  expect(read.headers).not.toHaveProperty('deprecation');
});

test('by Accept it comes as YAML, with every digit', async () => {
  const { call } = await open();
  const read = await call('GET', '/petstore/spec?version=1.0.0', yaml);
  expect(read.headers['content-type']).toBe('application/yaml');
  expect(read.text).toContain('big: 12345678901234567890\n');
  expect(parse(read.text)).toEqual(JSON.parse(specText));
  const json = await call('GET', '/petstore/spec?version=1.0.0');
  expect(read.headers['etag']).not.toBe(json.headers['etag']);
  const other = { headers: { accept: 'text/html' } };
  expect((await call('GET', '/petstore/spec?version=1.0.0', other)).text).toBe(specText);
});

test('who asks for the same YAML at once shares it, and of other specs two are written at a time', async () => {
  const asked: string[] = [];
  const written = Promise.withResolvers<string>();
  const renderSpecYaml = (text: string) => {
    asked.push(text);
    return written.promise;
  };
  const { callCatalog: call } = openWorld({ catalog: { renderSpecYaml } });
  for (const version of ['1.0.0', '1.1.0', '1.2.0'])
    await call('POST', '', { body: { ...least, version, spec: { version } } });
  const read = (version: string) => call('GET', `/petstore/spec?version=${version}`, yaml);
  const same = Array.from({ length: 5 }, () => read('1.0.0'));
  const other = read('1.1.0');
  await eventually(() => expect(asked).toHaveLength(2));
  const refused = await read('1.2.0');
  expect([refused.status, refused.body.code]).toEqual([429, 'quota-exceeded']);
  written.resolve('a: 1\n');
  for (const { status, text } of await Promise.all([...same, other]))
    expect([status, text]).toEqual([200, 'a: 1\n']);
  expect(asked).toHaveLength(2);
});

test('a big spec is the same as YAML as a small one', async () => {
  const { callCatalog: call } = openWorld();
  const names = Array.from({ length: 20_000 }, (_, at) => [`name ${at}`, `value ${at}`]);
  const spec = Object.fromEntries(names);
  await call('POST', '', { body: { ...least, spec } });
  const read = await call('GET', '/petstore/spec?version=1.0.0', yaml);
  expect(read.headers['content-type']).toBe('application/yaml');
  // A look for names that come twice would take steps by the square of their number.
  expect(parse(read.text, { uniqueKeys: false })).toEqual(spec);
});

test('a spec whose YAML would be too long comes as JSON, and is known by its tag', async () => {
  const { callCatalog: call } = openWorld();
  const lines = Array.from({ length: 80_000 }, () => 'a\nb');
  const deep = `${'{"a":'.repeat(58)}${JSON.stringify(lines)}${'}'.repeat(58)}`;
  const raw = JSON.stringify(least).replace(/\}$/, `,"spec":${deep}}`);
  expect((await call('POST', '', { raw })).status).toBe(201);
  const read = await call('GET', '/petstore/spec?version=1.0.0', yaml);
  expect(read.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(read.text).toBe(deep);
  const headers = { ...yaml.headers, 'if-none-match': String(read.headers['etag']) };
  const again = await call('GET', '/petstore/spec?version=1.0.0', { headers });
  expect([again.status, again.text]).toEqual([304, '']);
});

test.each([{}, yaml.headers])(
  'what has not changed is a 304 with the same headers',
  async (how) => {
    const { call, clock } = await open();
    await call('POST', '/petstore/publish');
    const read = await call('GET', '/petstore/spec', { headers: how });
    const { 'content-type': _type, 'content-length': _length, ...kept } = read.headers;
    const etag = String(read.headers['etag']);
    for (const tag of [etag, `W/${etag}`, '*']) {
      const headers = { ...how, 'if-none-match': tag };
      const again = await call('GET', '/petstore/spec', { headers });
      expect([again.status, again.text]).toEqual([304, '']);
      for (const name of ['etag', 'vary', 'cache-control', 'content-location'])
        expect(again.headers[name]).toBe(kept[name]);
      expect(again.headers).not.toHaveProperty('content-type');
    }
    await clock.advance(1000);
    await call('PATCH', '/petstore', { headers: any, body: { title: 'New' } });
    const headers = { ...how, 'if-none-match': String(read.headers['etag']) };
    expect((await call('GET', '/petstore/spec', { headers })).status).toBe(200);
  },
);

test('a spec that was read, edited and sent back is guarded by its own tag', async () => {
  const { call } = await open();
  const tag = async () =>
    String((await call('GET', '/petstore/spec?version=1.0.0', yaml)).headers['etag']);
  const headers = { 'if-match': await tag() };
  const edit = { headers, body: { ...content, spec: { a: 1 } } };
  expect((await call('PUT', '/petstore?version=1.0.0', edit)).status).toBe(200);
  expect((await call('PUT', '/petstore?version=1.0.0', edit)).status).toBe(412);
  expect((await call('GET', '/petstore/spec?version=1.0.0')).body).toEqual({ a: 1 });
});

test('without a version it is the one of the version that a read returns', async () => {
  const { call } = await open();
  const none = await call('GET', '/petstore/spec');
  expect([none.status, none.body.code]).toEqual([404, 'no-published-version']);
  await call('POST', '/petstore/publish');
  await make(call, { version: '2.0.0' });
  const location = async () => (await call('GET', '/petstore/spec')).headers['content-location'];
  expect(await location()).toBe('/api/v1/catalog/petstore/spec?version=1.0.0');
  await call('POST', '/petstore/publish?version=2.0.0');
  expect(await location()).toBe('/api/v1/catalog/petstore/spec?version=2.0.0');
  await call('PUT', '/petstore/default?version=1.0.0');
  expect(await location()).toBe('/api/v1/catalog/petstore/spec?version=1.0.0');
});

test('of a deprecated version it says so with the headers of the version', async () => {
  const { call, clock } = await open();
  await call('POST', '/petstore/publish');
  await make(call, { version: '2.0.0' });
  await call('POST', '/petstore/publish?version=2.0.0');
  const sunset = new Date(clock.now() + DAY).toISOString();
  await call('POST', `/petstore/deprecate?version=1.0.0&sunset=${sunset}`);
  const version = await call('GET', '/petstore?version=1.0.0');
  expect(version.headers['sunset']).toBeDefined();
  for (const how of [{}, yaml]) {
    const { headers } = await call('GET', '/petstore/spec?version=1.0.0', how);
    for (const name of ['deprecation', 'sunset', 'link'])
      expect(headers[name]).toBe(version.headers[name]);
  }
});

test('a version without a spec is a 404 that says so, whatever is asked', async () => {
  const { callCatalog: call } = openWorld();
  await call('POST', '', { body: least });
  const asked: Record<string, string>[] = [
    {},
    yaml.headers,
    { 'if-none-match': '*' },
    { 'if-none-match': '"x"' },
  ];
  for (const headers of asked) {
    const read = await call('GET', '/petstore/spec?version=1.0.0', { headers });
    expect(read.status).toBe(404);
    expect(read.body).toMatchObject({
      code: 'not-found',
      detail: 'Version 1.0.0 has no spec.',
    });
  }
});

test.each([
  ['/petstore/spec?version=9', 404, 'artifact-not-found'],
  ['/nothing/spec', 404, 'artifact-not-found'],
  ['/petstore/spec?version=1.0.0&format=yaml', 400, 'validation-failed'],
])('%s is refused', async (path, status, code) => {
  const { call } = await open();
  const refused = await call('GET', path, yaml);
  expect(refused.status).toBe(status);
  expect(refused.body.code).toBe(code);
});
