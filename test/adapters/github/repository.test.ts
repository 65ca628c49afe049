import nock from 'nock';
import { describe, expect, test } from 'vitest';

import { createLabel, inspectRepository } from '#adapters/github/inspection.ts';
import { parseRepositoryName } from '#adapters/github/repository.ts';
import { API, createParts, watchNock, REPOSITORY, wireRepository } from './support.ts';

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
        isArchived: false,
        isAdmin: false,
        mayWrite: true,
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
