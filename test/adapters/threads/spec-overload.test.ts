import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createSpecThreads } from '#adapters/threads/spec-threads.ts';
import { createFakeClock } from '../../support/clock.ts';

/** Takes the threads a while. */
const long = JSON.stringify({ a: Array.from({ length: 200_000 }, (_, at) => ({ at })) });

test('a rendering that is given up says so to who reads', async () => {
  const clock = createFakeClock();
  const given = createSpecThreads({ clock }).renderSpecYaml(long);
  const detail = 'The spec could not be written as YAML in time.';
  await Promise.all([
    expect(given).rejects.toMatchObject({ code: 'overloaded', detail }),
    nextTurn().then(() => clock.advance(5000)),
  ]);
});

const events = (size: number): string => JSON.stringify({ a: 'x'.repeat(size) });

test('a comparison of specs that is given up says whether it is for the specs or for the machine', async () => {
  const clock = createFakeClock();
  const { diffSpecs: diff } = createSpecThreads({ clock });
  const giveUp = async (): Promise<unknown> => {
    const given = diff({ before: long, after: `${long} ` }).catch((error: unknown) => error);
    await nextTurn();
    await clock.advance(5000);
    return given;
  };
  expect(await giveUp()).toMatchObject({ code: 'overloaded' });
  await diff({ before: events(1), after: events(70_000) }); // the thread has started
  expect(await giveUp()).toBe('too-costly');
});
