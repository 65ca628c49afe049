import nock from 'nock';
import { describe, expect, test } from 'vitest';
import { createLabel, inspectRepository } from '#adapters/github/inspection.ts';
import {
  issueAddressOf,
  parseRepositoryName,
  readLabels,
  reasonNotToWrite,
} from '#adapters/github/repository.ts';
import { API, createParts, REPOSITORY, watchNock, wireRepository } from './support.ts';
import { credentialKindOf } from '#adapters/github/transport/auth.ts';
import { Secret } from '#shared/crypto/secret.ts';

watchNock();

describe('the name of a repository', () => {
  test('is owner/name and nothing else', () => {
    expect(parseRepositoryName('acme/leads')).toEqual({ owner: 'acme', repo: 'leads' });
    for (const text of ['acme', 'acme/', '/leads', 'a/b/c', 'a b/c', ''])
      expect(() => parseRepositoryName(text)).toThrow('owner/name');
  });
});

describe('identifying the repository', () => {
  test('tells its numeric id', async () => {
    nock(API).get(REPOSITORY).reply(200, wireRepository);
    const { repository } = createParts();
    expect(repository.id()).toBeUndefined();
    await expect(repository.identify()).resolves.toBe(4711);
    expect(repository.id()).toBe(4711);
  });

  test('is tracker-unavailable without it', async () => {
    nock(API).get(REPOSITORY).reply(404);
    const { repository } = createParts();
    await expect(repository.identify()).rejects.toMatchObject({ code: 'tracker-unavailable' });
  });
});

describe('inspecting the repository', () => {
  test('tells permissions, labels, the token and the clock', async () => {
    const { client, repository, clock } = createParts();
    nock(API)
      .get(REPOSITORY)
      .reply(200, wireRepository, {
        date: new Date(clock.now() + 7000).toUTCString(),
        'x-oauth-scopes': 'repo, read:org',
        'github-authentication-token-expiration': '2026-12-01 00:00:00 UTC',
      })
      .get(`${REPOSITORY}/labels/approved`)
      .reply(200, { name: 'Approved' })
      .get(`${REPOSITORY}/labels/${encodeURIComponent('deleted by/partner')}`)
      .reply(404);
    await expect(
      inspectRepository({ client, repository, clock }, ['approved', 'deleted by/partner']),
    ).resolves.toEqual({
      facts: {
        id: 4711,
        hasIssues: true,
        isPrivate: true,
        isForCollaborators: false,
        isArchived: false,
        isAdmin: false,
        mayWrite: true,
        mayPush: true,
      },
      labels: [
        { name: 'approved', exists: true },
        { name: 'deleted by/partner', exists: false },
      ],
      scopes: ['repo', 'read:org'],
      tokenExpires: '2026-12-01 00:00:00 UTC',
      clockAheadMs: 7000,
    });
  });

  test('leaves out what the tracker does not tell', async () => {
    const { client, repository, clock } = createParts();
    const { id, full_name, has_issues } = wireRepository;
    nock(API).get(REPOSITORY).reply(200, { id, full_name, has_issues });
    const inspection = await inspectRepository({ client, repository, clock }, []);
    expect(inspection).toMatchObject({ scopes: undefined, tokenExpires: undefined });
    expect(inspection.facts).toMatchObject({ isAdmin: false, mayWrite: undefined });
  });

  test.each([
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [404, 'repository-missing'],
    [301, 'repository-missing'],
    [410, 'version-retired'],
  ])('says what is wrong: %i is %s', async (status, kind) => {
    nock(API).get(REPOSITORY).reply(status, {});
    const parts = createParts();
    await expect(inspectRepository(parts, ['approved'])).rejects.toMatchObject({ kind });
  });
});

describe('creating a label', () => {
  const LABELS = `${REPOSITORY}/labels`;

  test('creates it', async () => {
    nock(API).post(LABELS, { name: 'approved', color: '0e8a16' }).reply(201, { name: 'approved' });
    const label = { name: 'approved', color: '0e8a16' };
    await expect(createLabel(createParts(), label)).resolves.toBe('created');
  });

  test.each([
    ['exists', 200],
    ['refused', 404],
  ])('that the tracker does not take: %s', async (outcome, status) => {
    nock(API).post(LABELS).reply(422).get(`${LABELS}/approved`).reply(status, { name: 'Approved' });
    await expect(createLabel(createParts(), { name: 'approved' })).resolves.toBe(outcome);
  });

  test('without write access fails', async () => {
    nock(API).post(LABELS).reply(403);
    await expect(createLabel(createParts(), { name: 'a' })).rejects.toMatchObject({
      kind: 'forbidden',
    });
  });
});

const facts = {
  id: 1,
  hasIssues: true,
  isPrivate: true,
  isArchived: false,
  isAdmin: false,
  mayWrite: true,
  mayPush: true,
  isForCollaborators: false,
};

const scopes = (text: string) => ({ 'x-oauth-scopes': text });

describe('nothing speaks against writing', () => {
  test.each([
    ['a classic token with repo', 'classic', {}, scopes('gist, repo')],
    ['public_repo for a public one', 'classic', { isPrivate: false }, scopes('public_repo')],
    ['no scopes told', 'classic', {}, {}],
    ['no rights told', 'user', { mayWrite: undefined }, {}],
    ['a user with a right', 'user', {}, {}],
    ['an App, whatever is told of its rights', 'app', { mayWrite: false }, scopes('')],
  ] as const)('%s', (_name, credentialKind, change, headers) => {
    expect(reasonNotToWrite({ credentialKind }, { ...facts, ...change }, headers)).toBeUndefined();
  });
});

describe('not to be written:', () => {
  test.each([
    ['a classic token without any scope', 'forbidden', 'classic', {}, scopes('')],
    ['public_repo for a private one', 'forbidden', 'classic', {}, scopes('public_repo')],
    ['a scope of a similar name', 'forbidden', 'classic', {}, scopes('repo:status')],
    ['a user who may only read', 'forbidden', 'user', { mayWrite: false }, {}],
    ['an archived repository', 'forbidden', 'app', { isArchived: true }, {}],
    ['no issues', 'issues-disabled', 'app', { hasIssues: false }, {}],
  ] as const)('%s', (...[, reason, credentialKind, change, headers]) => {
    expect(reasonNotToWrite({ credentialKind }, { ...facts, ...change }, headers)).toBe(reason);
  });
});

test.each([
  ['ghp_1', 'classic'],
  ['0123456789abcdef0123456789abcdef01234567', 'classic'],
  ['gho_1', 'classic'],
  ['github_pat_1', 'user'],
  ['ghs_1', 'app'],
  ['ghu_1', 'app'],
])('%s is the token of: %s', (token, kind) => {
  expect(credentialKindOf({ token: new Secret(token) })).toBe(kind);
});

test('an installation is an App', () => {
  const privateKey = new Secret('k');
  expect(credentialKindOf({ appId: '1', installationId: '2', privateKey })).toBe('app');
});

watchNock();

const names = (count: number, from = 0) =>
  Array.from({ length: count }, (_, at) => ({ name: `label ${from + at}`, color: 'ededed' }));

function replyPages(...sizes: number[]): void {
  for (const [at, size] of sizes.entries())
    nock(API)
      .get(`${REPOSITORY}/labels`)
      .query({ per_page: 100, page: at + 1 })
      .reply(200, names(size, at * 100));
}

test('every page of labels is read, and none after the last', async () => {
  replyPages(100, 100, 3);
  const labels = await readLabels(createParts());
  expect(labels).toHaveLength(203);
  expect(labels.at(-1)).toBe('label 202');
});

test('a repository with more than a thousand labels shows the first thousand', async () => {
  replyPages(...Array.from({ length: 10 }, () => 100));
  expect(await readLabels(createParts())).toHaveLength(1000);
});

test('a failure of the tracker is told', async () => {
  nock(API).get(`${REPOSITORY}/labels`).query(true).reply(403, { message: 'no' });
  await expect(readLabels(createParts())).rejects.toMatchObject({ kind: 'forbidden' });
});

test.each([
  ['https://api.github.com', 'https://github.com/acme/leads/issues/24'],
  ['https://api.acme.ghe.com', 'https://acme.ghe.com/acme/leads/issues/24'],
  ['https://git.acme.example/api/v3', 'https://git.acme.example/acme/leads/issues/24'],
  ['http://127.0.0.1:8081', 'http://127.0.0.1:8081/acme/leads/issues/24'],
  [
    'https://api.github.com.evil.example',
    'https://api.github.com.evil.example/acme/leads/issues/24',
  ],
])('the issues of %s are read at %s', (apiUrl, address) => {
  expect(issueAddressOf(apiUrl, 'acme/leads')('24')).toBe(address);
});
