import { createRequire } from 'node:module';

import nock from 'nock';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

import type { TrackerClient } from '#adapters/github/transport/client.ts';
import { createLabel, inspectRepository } from '#adapters/github/inspection.ts';
import { createLeadTracker } from '#adapters/github/lead-tracker.ts';
import { createRepository, type Repository } from '#adapters/github/repository.ts';
import type { LeadTracker } from '#leads/lead-tracker.ts';
import { createFakeClock } from '../../support/clock.ts';
import { createParts, watchNock } from './support.ts';

const require = createRequire(import.meta.url);
const RECORDED_HOST = 'https://api.github.com';
const OWNER = 'octokit-fixture-org';

const recording = z.array(
  z.object({
    method: z.string(),
    path: z.string(),
    status: z.int(),
    body: z.custom<nock.Body>(),
    response: z.custom<nock.Body>(),
    headers: z.record(z.string(), z.coerce.string()),
  }),
);
type Recorded = z.infer<typeof recording>[number];

/** Real traffic as `@octokit/fixtures` keeps it. Its own nock does not see Node's fetch. */
function recorded(scenario: string): Recorded[] {
  const path = `@octokit/fixtures/scenarios/api.github.com/${scenario}/normalized-fixture.json`;
  return recording.parse(require(path));
}

/** Answers `exchange` as it was recorded, at the path that it was recorded at. */
function play({ method, path, status, body, response, headers }: Recorded): void {
  nock(RECORDED_HOST)
    .intercept(path, method, body === '' ? undefined : (body as nock.DataMatcherMap))
    .reply(status, response, headers);
}

type RecordedTracker = { client: TrackerClient; repository: Repository; tracker: LeadTracker };

function partsFor(repo: string): RecordedTracker & { clock: ReturnType<typeof createFakeClock> } {
  const clock = createFakeClock(Date.parse('2017-10-10T16:00:00Z'));
  const { client } = createParts({ apiUrl: RECORDED_HOST, clock });
  const repository = createRepository(client, { owner: OWNER, repo }, clock);
  return { clock, client, repository, tracker: createLeadTracker(client, repository) };
}

watchNock();

describe('a recorded repository', () => {
  test('that was renamed is not followed, neither by a read nor by a write', async () => {
    const { client, repository, tracker } = partsFor('rename-repository');
    const moved = recorded('rename-repository').filter(({ status }) => status > 300);
    expect(moved.map(({ method, status }) => `${method} ${status}`)).toEqual([
      'get 301',
      'patch 307',
    ]);
    for (const answer of moved) play(answer);
    nock(RECORDED_HOST)
      .get(`/repos/${OWNER}/rename-repository/issues/1`)
      .reply(301, moved[0]?.response, moved[0]?.headers);
    // Had the issue alone been moved, it would be absent.
    await expect(tracker.readIssue(1)).rejects.toMatchObject({ code: 'tracker-unavailable' });
    await expect(
      client.request(
        'PATCH /repos/{owner}/{repo}',
        {
          ...repository.name,
          name: 'rename-repository-newname',
          description: 'test description',
        },
        { schema: z.unknown() },
      ),
    ).rejects.toMatchObject({ kind: 'moved', status: 307 });
  });
});

describe('recorded labels', () => {
  test('are found and created', async () => {
    const parts = partsFor('labels');
    const named = (method: string): Recorded[] =>
      recorded('labels').filter(
        (answer) => answer.method === method && /labels(\/test-label)?$/.test(answer.path),
      );
    for (const answer of [...named('post'), ...named('get').slice(-1)]) play(answer);
    const [repositoryAnswer] = recorded('get-repository');
    nock(RECORDED_HOST)
      .get(`/repos/${OWNER}/labels`)
      .reply(200, repositoryAnswer?.response, repositoryAnswer?.headers);
    const label = { name: 'test-label', color: '663399' };
    await expect(createLabel(parts, label)).resolves.toBe('created');
    const inspection = await inspectRepository(parts, ['test-label']);
    expect(inspection).toMatchObject({
      labels: [{ name: 'test-label', exists: true }],
      scopes: expect.arrayContaining(['repo']),
      clockAheadMs: 0,
    });
  });

  test('that are refused say so', async () => {
    const [refusal] = recorded('errors');
    if (refusal) play(refusal);
    nock(RECORDED_HOST).get(`/repos/${OWNER}/errors/labels/foo`).reply(404);
    const label = { name: 'foo', color: 'invalid' };
    await expect(createLabel(partsFor('errors'), label)).resolves.toBe('refused');
  });
});
