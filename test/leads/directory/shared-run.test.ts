import { expect, test } from 'vitest';
import { createSharedRun } from '#leads/directory/shared-run.ts';

function controlled() {
  const runs: PromiseWithResolvers<number>[] = [];
  const run = createSharedRun(() => {
    const next = Promise.withResolvers<number>();
    runs.push(next);
    return next.promise;
  });
  return { run, runs };
}

test('calls that come while a run is in flight share the next one', async () => {
  const { run, runs } = controlled();
  const first = run();
  const later = [run(), run()];
  expect(runs).toHaveLength(1);
  runs[0]?.resolve(1);
  expect(await first).toBe(1);
  await Promise.resolve();
  runs[1]?.resolve(2);
  expect(await Promise.all(later)).toEqual([2, 2]);
  expect(runs).toHaveLength(2);
});

test('a failure reaches those whose run it was, and the next run begins all the same', async () => {
  const { run, runs } = controlled();
  const first = run();
  const later = run();
  runs[0]?.reject(new Error('down'));
  await expect(first).rejects.toThrow('down');
  await Promise.resolve();
  runs[1]?.resolve(2);
  expect(await later).toBe(2);
});
