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
  const signals: (AbortSignal | undefined)[] = [];
  const jobs = createSpecJobs({
    checkSpec: (specText) => wait(specText, []),
    diffSpecs: (specs) => wait(specs, specs.before === 'costly' ? 'too-costly' : nothing),
    renderSpecYaml: (specText, signal) => {
      signals.push(signal);
      return wait(specText, `yaml of ${specText}`);
    },
  });
  return {
    ...jobs,
    calls,
    signals,
    finish: () => waiting.splice(0).forEach((resolve) => resolve()),
  };
}

test('of one caller two jobs are under way at a time, whatever others do', async () => {
  const { checkSpec, diffSpecs, renderSpecYaml, calls, finish } = openJobs();
  const pair = { before: 'a', after: 'b' };
  const first = [diffSpecs(pair, ada), checkSpec('a', ada)];
  const refused = { code: 'quota-exceeded', retryAfterSeconds: 5 };
  await expect(diffSpecs(pair, ada)).rejects.toMatchObject(refused);
  await expect(checkSpec('a', ada)).rejects.toMatchObject(refused);
  await expect(renderSpecYaml('a', ada)).rejects.toMatchObject(refused);
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

test('equal renderings share one, and only the first counts', async () => {
  const { checkSpec, renderSpecYaml, calls, finish } = openJobs();
  const read = (specText: string) =>
    Array.from({ length: 5 }, (_, at) => renderSpecYaml(specText, { ...ada, subject: `s${at}` }));
  const all = [...read('a'), ...read('b'), checkSpec('c', { ...ada, subject: 's1' })];
  expect(calls).toEqual(['a', 'b', 'c']);
  await expect(renderSpecYaml('c', { ...ada, subject: 's0' })).rejects.toMatchObject({
    code: 'quota-exceeded',
  });
  finish();
  expect(new Set(await Promise.all(all))).toEqual(new Set(['yaml of a', 'yaml of b', []]));
  const again = renderSpecYaml('a', ada);
  finish();
  expect(await again).toBe('yaml of a');
  expect(calls).toEqual(['a', 'b', 'c', 'a']);
});

test('a shared rendering ends when all who want it have hung up, and is nobody else’s then', async () => {
  const { renderSpecYaml, calls, signals, finish } = openJobs();
  const readers = [new AbortController(), new AbortController()];
  const read = ({ signal }: { signal: AbortSignal }) => renderSpecYaml('a', { ...ada, signal });
  const first = readers.map(read);
  readers[0]?.abort();
  expect(signals.map((signal) => signal?.aborted)).toEqual([false]);
  readers[1]?.abort();
  expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
  const next = read(new AbortController());
  const late = read({ signal: AbortSignal.abort() });
  expect(signals.map((signal) => signal?.aborted)).toEqual([true, false]);
  finish();
  await Promise.all([...first, next, late]);
  expect(calls).toHaveLength(2);
});
