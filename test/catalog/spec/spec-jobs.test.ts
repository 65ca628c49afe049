import { expect, test } from 'vitest';
import { createSpecJobs } from '#catalog/spec/spec-jobs.ts';

const nothing = { changes: [], truncated: false };
const ada = { workspaceId: 'w', subject: 'ada' };

function openJobs() {
  const waiting: (() => void)[] = [];
  const calls: unknown[] = [];
  const wait = async <T>(given: unknown, result: T): Promise<T> => {
    calls.push(given);
    await new Promise<void>((resolve) => waiting.push(resolve));
    return result;
  };
  const jobs = createSpecJobs({
    checkSpec: (specText) => wait(specText, []),
    diffSpecs: (specs) => wait(specs, specs.before === 'costly' ? 'too-costly' : nothing),
  });
  return { ...jobs, calls, finish: () => waiting.splice(0).forEach((resolve) => resolve()) };
}

test('of one caller two comparisons or checks are under way at a time, whatever others do', async () => {
  const { checkSpec, diffSpecs, calls, finish } = openJobs();
  const pair = { before: 'a', after: 'b' };
  const first = [diffSpecs(pair, ada), checkSpec('a', ada)];
  const refused = { code: 'quota-exceeded', retryAfterSeconds: 5 };
  await expect(diffSpecs(pair, ada)).rejects.toMatchObject(refused);
  await expect(checkSpec('a', ada)).rejects.toMatchObject(refused);
  const others = [
    diffSpecs(pair, { ...ada, subject: 'bob' }),
    diffSpecs(pair, { ...ada, workspaceId: 'x' }),
  ];
  expect(calls).toHaveLength(4);
  finish();
  await Promise.all([...first, ...others]);
  const again = diffSpecs(pair, ada);
  finish();
  expect(await again).toEqual(nothing);
});

test('a pair that was too costly is not tried again, the other way round it is another one', async () => {
  const { diffSpecs, calls, finish } = openJobs();
  const costly = { before: 'costly', after: 'b' };
  for (const specs of [costly, costly, { before: 'b', after: 'costly' }]) {
    const compared = diffSpecs(specs, ada);
    finish();
    expect(await compared).toEqual(specs === costly ? 'too-costly' : nothing);
  }
  expect(calls).toHaveLength(2);
});
