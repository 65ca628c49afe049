import labelsOfIssue from '@octokit/fixtures/scenarios/api.github.com/add-labels-to-issue/normalized-fixture.json' with { type: 'json' };
import labels from '@octokit/fixtures/scenarios/api.github.com/labels/normalized-fixture.json' with { type: 'json' };
import lock from '@octokit/fixtures/scenarios/api.github.com/lock-issue/normalized-fixture.json' with { type: 'json' };
import paginate from '@octokit/fixtures/scenarios/api.github.com/paginate-issues/normalized-fixture.json' with { type: 'json' };
import rename from '@octokit/fixtures/scenarios/api.github.com/rename-repository/normalized-fixture.json' with { type: 'json' };
import { describe, expect, test } from 'vitest';

import { openTracker, REPO, send } from './support.ts';

/** Answers of the real API, as recorded by Octokit's maintainers. */
type Recording = {
  method: string;
  path: string;
  status: number;
  response: unknown;
  body?: unknown;
};

// The recordings are of 2017 to 2022; these have left the API or its default answers since.
const GONE = new Set(['temp_clone_token', 'template_repository', 'use_squash_pr_title_as_default']);

/** Every key, with the type of its value, that a recorded document has and ours lacks. */
function missingFrom(ours: unknown, recorded: unknown, path = ''): string[] {
  if (Array.isArray(recorded))
    return recorded
      .slice(0, 1)
      .flatMap((item) => missingFrom((ours as unknown[])[0], item, `${path}[]`));
  if (typeof recorded !== 'object' || recorded === null) return [];
  return Object.entries(recorded).flatMap(([key, value]) => {
    if (GONE.has(key)) return [];
    const mine = (ours as Record<string, unknown> | undefined)?.[key];
    if (mine === undefined) return [`${path}.${key}`];
    if (mine === null || value === null) return [];
    return typeof mine === typeof value
      ? missingFrom(mine, value, `${path}.${key}`)
      : [`${path}.${key} is ${typeof mine}`];
  });
}

test('the comparison finds what is missing', () => {
  expect(missingFrom({ a: 1, c: { d: '' } }, { a: 2, b: 1, c: { d: 3 } })).toEqual([
    '.b',
    '.c.d is string',
  ]);
});

describe('issues', () => {
  test('a page has every field of the recorded one', async () => {
    const tracker = await openTracker();
    for (let count = 0; count < 4; count += 1) tracker.createIssue({ title: 'Test issue' });
    const { data } = await send(tracker, `GET ${REPO}/issues?per_page=3`);
    expect(missingFrom(data, paginate[0]?.response)).toEqual([]);
  });

  test('creating one and putting labels on it answer as recorded', async () => {
    const [create, label] = labelsOfIssue;
    const tracker = await openTracker();
    const created = await send(tracker, `POST ${REPO}/issues`, {
      body: { title: 'Issue without a label' },
    });
    expect(created.status).toBe(create?.status);
    expect(missingFrom(created.data, create?.response)).toEqual([]);
    const body = { labels: ['Foo', 'bAr', 'baZ'] };
    const labelled = await send(tracker, `POST ${REPO}/issues/1/labels`, { body });
    expect(labelled.status).toBe(label?.status);
    const looks = (rows: unknown) =>
      (rows as object[]).map((row) => ({ ...row, id: 0, node_id: '', url: '' }));
    expect(looks(labelled.data)).toEqual(looks(label?.response));
  });

  test('locking and unlocking are 204', async () => {
    const tracker = await openTracker();
    tracker.createIssue({ title: 'A' });
    for (const { method, status } of lock)
      expect((await send(tracker, `${method.toUpperCase()} ${REPO}/issues/1/lock`)).status).toBe(
        status,
      );
  });
});

test('a label’s life runs as recorded', async () => {
  const tracker = await openTracker();
  tracker.createLabel({ name: 'bug', color: 'd73a4a' });
  for (const recording of labels as Recording[]) {
    const { method, path, status, response, body } = recording;
    const target = path.replace('/repos/octokit-fixture-org/labels', REPO);
    const answer = await send(tracker, `${method.toUpperCase()} ${target}`, body ? { body } : {});
    expect(answer.status).toBe(status);
    expect(missingFrom(answer.data, response)).toEqual([]);
    if (!Array.isArray(response)) {
      const { name, color } = (answer.data ?? {}) as Record<string, string>;
      const wanted = (response || {}) as Record<string, string>;
      expect([name, color]).toEqual([wanted['name'], wanted['color']]);
    }
  }
});

test('a rename runs as recorded: 200, 301, 200, 307, 200', async () => {
  const tracker = await openTracker();
  const { id } = (await send(tracker, `GET ${REPO}`)).data as { id: number };
  for (const recording of rename as Recording[]) {
    const { method, path, status, response, body } = recording;
    const target = path
      .replace('/repos/octokit-fixture-org/rename-repository', REPO)
      .replace('/repositories/1000', `/repositories/${id}`);
    const answer = await send(tracker, `${method.toUpperCase()} ${target}`, body ? { body } : {});
    expect(answer.status).toBe(status);
    expect(missingFrom(answer.data, response)).toEqual([]);
    if (status > 300)
      expect(answer.headers.get('location')).toBe(`${tracker.url}/repositories/${id}`);
  }
});
