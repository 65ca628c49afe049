import { publishVersion } from '#catalog/lifecycle/publish.ts';
import { describe, expect, test } from 'vitest';
import type { Catalog, CatalogOptions } from '#catalog/index.ts';
import { diffSpecs } from '#catalog/diff/diff-specs.ts';
import { TrackportError } from '#shared/errors.ts';
import { toRfc3339 } from '#shared/clock.ts';
import { createFakeClock } from '../../../support/clock.ts';
import { catalogRules, petstore, petApi } from '../../../support/catalog.ts';
import { eventually } from '../../../support/eventually.ts';
import { type Call, openWorld } from '../../../support/world.ts';

const ok = { responses: { 200: { description: 'Well.' } } };

type Rule = 'off' | 'warn' | 'block';

async function draft(call: Call, version: string, spec?: object): Promise<void> {
  const body = { ...petstore, version, ...(spec && { spec }) };
  expect((await call('POST', '', { body })).status).toBe(201);
}

/** With 1.0.0 published, which has `/pets` and `/dogs`. */
async function open(compatibility: Rule, facts: Partial<CatalogOptions> = {}) {
  const opened = openWorld({
    catalog: { rules: () => ({ ...catalogRules, compatibility }), ...facts },
  });
  const { callCatalog: call } = opened;
  await draft(call, '1.0.0', petApi('/pets', '/dogs'));
  expect((await call('POST', '/petstore/publish')).status).toBe(200);
  const publish = (version: string, query = '') =>
    call('POST', `/petstore/publish?version=${version}${query}`);
  return { ...opened, call, publish };
}

/** The differ, and how often it was asked. */
function countedDiffs(): { count: () => number; facts: Partial<CatalogOptions> } {
  let count = 0;
  const facts: Partial<CatalogOptions> = {
    diffSpecs: async (specs) => {
      count += 1;
      return diffSpecs(specs);
    },
  };
  return { count: () => count, facts };
}

const finding = {
  pointer: '#/spec/paths/~1dogs',
  code: 'breaking-change',
  detail: 'Breaks who relies on 1.0.0: the path is gone.',
};

describe('breaking changes', () => {
  test('are findings of the published version, by default', async () => {
    const { call, publish } = await open('warn');
    await draft(call, '1.1.0', petApi('/pets', '/cats'));
    const published = await publish('1.1.0');
    expect(published.status).toBe(200);
    expect(published.body).toMatchObject({ lifecycle: 'PUBLISHED', findings: [finding] });
    expect((await call('GET', '/petstore')).text).toBe(published.text);
    const { items } = (await call('GET', '/petstore/audit?limit=1')).body;
    expect(items[0].changes).toEqual({ lifecycle: 'PUBLISHED' });
    await call('POST', '/petstore/deprecate?version=1.1.0');
    expect((await call('GET', '/petstore?version=1.1.0')).body.findings).toEqual([finding]);
  });

  test('stop a publication where they block, each with its place', async () => {
    const { call, publish } = await open('block');
    await draft(call, '1.1.0', petApi('/cats'));
    const before = (await call('GET', '/petstore?version=1.1.0')).text;
    const refused = await publish('1.1.0');
    expect(refused.status).toBe(422);
    expect(refused.body).toMatchObject({
      code: 'breaking-change',
      detail: expect.stringMatching(/^2 changes break who relies on 1\.0\.0.*`breaking=accept`/),
      errors: [{ ...finding, pointer: '#/spec/paths/~1pets' }, finding],
    });
    expect((await call('GET', '/petstore?version=1.1.0')).text).toBe(before);
    expect((await publish('1.1.0', '&breaking=yes')).status).toBe(400);
  });

  test('are published once they are accepted, which the audit keeps', async () => {
    const { call, publish } = await open('block');
    await draft(call, '1.1.0', petApi('/pets'));
    const accepted = await publish('1.1.0', '&breaking=accept');
    expect(accepted.body).toMatchObject({ lifecycle: 'PUBLISHED', findings: [finding] });
    const { items } = (await call('GET', '/petstore/audit?limit=1')).body;
    expect(items[0]).toMatchObject({
      action: 'artifact.publish',
      version: '1.1.0',
      changes: { lifecycle: 'PUBLISHED', breaking: 'accept', against: '1.0.0' },
    });
    await draft(call, '1.2.0', petApi('/pets'));
    expect((await publish('1.2.0', '&breaking=accept')).body).not.toHaveProperty('findings');
    const last = (await call('GET', '/petstore/audit?limit=1')).body.items[0];
    expect(last.changes).toEqual({ lifecycle: 'PUBLISHED' });
  });

  test('take their time, which is before that of the publication', async () => {
    const clock = createFakeClock();
    const { call, publish } = await open('warn', {
      clock,
      diffSpecs: async (specs) => {
        clock.set(clock.now() + 3000);
        return diffSpecs(specs);
      },
    });
    await draft(call, '1.1.0', petApi('/pets'));
    const published = (await publish('1.1.0')).body;
    expect(published.publishedAt).toBe(toRfc3339(clock.now()));
    const [entry] = (await call('GET', '/petstore/audit?limit=1')).body.items;
    expect(entry.at).toBe(published.publishedAt);
  });

  test('are judged by the rule that they were looked for by', async () => {
    const rules = { ...catalogRules, compatibility: 'block' as Rule };
    const { call, publish } = await open('block', {
      rules: () => rules,
      diffSpecs: async (specs) => {
        rules.compatibility = 'off';
        return diffSpecs(specs);
      },
    });
    await draft(call, '1.1.0', petApi('/pets'));
    expect((await publish('1.1.0')).body).toMatchObject({ code: 'breaking-change' });
    expect((await publish('1.1.0')).body).not.toHaveProperty('findings');
  });

  test('are not looked for where nobody wants to know', async () => {
    const { count, facts } = countedDiffs();
    const { call, publish } = await open('off', facts);
    await draft(call, '1.1.0', petApi());
    expect((await publish('1.1.0')).body).not.toHaveProperty('findings');
    expect(count()).toBe(0);
  });

  test('come with the findings of a spec that is not valid, whose own come first', async () => {
    const { call, publish } = await open('block', {
      rules: () => ({ ...catalogRules, findings: 'warn', compatibility: 'block' }),
    });
    await draft(call, '1.1.0', { openapi: '3.1.0', info: {}, paths: { '/pets': { get: ok } } });
    const own = (await call('GET', '/petstore?version=1.1.0')).body.findings;
    const published = await publish('1.1.0', '&breaking=accept');
    expect(own.length).toBeGreaterThan(0);
    expect(published.body.findings).toEqual([...own, finding]);
  });

  test('of more than a hundred the first come, and that there are more', async () => {
    const { call, publish } = await open('warn');
    const many = Array.from({ length: 101 }, (_, at) => `/path${at}`);
    await draft(call, '1.1.0', petApi('/pets', '/dogs', ...many));
    await publish('1.1.0');
    await draft(call, '1.2.0', petApi('/pets', '/dogs'));
    const { findings } = (await publish('1.2.0')).body;
    expect(findings).toHaveLength(101);
    expect(findings[100]).toMatchObject({ code: 'more' });
  });
});

test('no semantic version breaks nothing, and is told to have been compared with nothing', async () => {
  const { call, publish } = await open('block');
  await draft(call, 'summer', petApi());
  const published = await publish('summer');
  expect(published.status).toBe(200);
  expect(published.body.findings).toMatchObject([{ code: 'not-compared' }]);
});

test('two comparisons of one person are under way at a time, whatever others publish', async () => {
  const held = Promise.withResolvers<void>();
  let begun = 0;
  const { call } = await open('warn', {
    diffSpecs: async () => {
      begun += 1;
      await held.promise;
      return 'too-costly';
    },
  });
  const versions = ['1.1.0', '1.2.0', '1.3.0'];
  for (const version of versions) await draft(call, version, petApi('/pets'));
  const publish = (version: string, subject: string) =>
    call('POST', `/petstore/publish?version=${version}`, { as: { subject } });
  const first = versions.slice(0, 2).map((version) => publish(version, 'ada'));
  await eventually(async () => expect(begun).toBe(2));
  const refused = await publish('1.3.0', 'ada');
  expect(refused).toMatchObject({ status: 429, body: { code: 'quota-exceeded' } });
  const other = publish('1.3.0', 'bob');
  await eventually(async () => expect(begun).toBe(3));
  held.resolve();
  for (const { status } of await Promise.all([...first, other])) expect(status).toBe(200);
});

describe('specs that cannot be compared in time', () => {
  const giveUp = async () => 'too-costly' as const;
  const tooCostly = {
    pointer: '#/spec',
    code: 'too-costly',
    detail: 'The spec could not be compared with 1.0.0 in time: what it breaks is not known.',
  };

  test('are published with a finding that says so', async () => {
    const { call, publish } = await open('warn', { diffSpecs: giveUp });
    await draft(call, '1.1.0', petApi('/pets'));
    const published = await publish('1.1.0');
    expect(published.status).toBe(200);
    expect(published.body.findings).toEqual([tooCostly]);
  });

  test('must be accepted where breaking changes block', async () => {
    const { call, publish } = await open('block', { diffSpecs: giveUp });
    await draft(call, '1.1.0', petApi('/pets'));
    const { status, body } = await publish('1.1.0');
    expect(status).toBe(422);
    expect(body).toMatchObject({ code: 'breaking-change', errors: [tooCostly] });
    expect(body.detail).toMatch(/^Nobody knows what breaks who relies on 1\.0\.0/);
    expect((await publish('1.1.0', '&breaking=accept')).status).toBe(200);
  });

  test('are compared by nobody who asks for their changes', async () => {
    const { call } = await open('warn', { diffSpecs: giveUp });
    await draft(call, '1.1.0', petApi('/pets'));
    const { status, body, headers } = await call('GET', '/petstore/diff?from=1.0.0&to=1.1.0');
    expect([status, body.code]).toEqual([422, 'diff-too-costly']);
    expect(headers).not.toHaveProperty('retry-after');
  });

  test.each(['warn', 'block'] as const)(
    'because the machine is busy are compared later, and not published before: %s',
    async (compatibility) => {
      let isBusy = true;
      const { call, publish } = await open(compatibility, {
        diffSpecs: async (specs) => {
          if (isBusy) throw new TrackportError('overloaded', { retryAfterSeconds: 5 });
          return diffSpecs(specs);
        },
      });
      await draft(call, '1.1.0', petApi('/pets', '/dogs', '/cats'));
      expect(await publish('1.1.0')).toMatchObject({ status: 503, body: { code: 'overloaded' } });
      isBusy = false;
      expect(await publish('1.1.0')).toMatchObject({ status: 200 });
    },
  );
});

test('of two publications at once the second is held against the first', async () => {
  const meanwhile: (() => Promise<unknown>)[] = [];
  const { call, publish, catalog } = await open('block', {
    diffSpecs: async (specs) => {
      await meanwhile.pop()?.();
      return diffSpecs(specs);
    },
  });
  await draft(call, '1.1.0', petApi('/pets', '/dogs', '/cats'));
  await draft(call, '1.2.0', petApi('/pets', '/dogs'));
  meanwhile.push(() => publishOf(catalog, '1.1.0'));
  const refused = await publish('1.2.0');
  expect(refused.body).toMatchObject({
    code: 'breaking-change',
    errors: [{ detail: 'Breaks who relies on 1.1.0: the path is gone.' }],
  });
});

async function publishOf(catalog: Catalog, version: string): Promise<void> {
  const actor = { kind: 'token', subject: 'other', clientId: 'tool' } as const;
  await publishVersion(catalog, { workspaceId: 'default', actor }, { id: 'petstore', version });
}
