import nock from 'nock';
import { expect, test } from 'vitest';

import { readLabels } from '#adapters/github/labels.ts';
import { API, createParts, watchNock, REPOSITORY } from './support.ts';

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
