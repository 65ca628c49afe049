import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createSpecDiffer } from '#adapters/threads/spec-differ.ts';
import { createSpecRenderer } from '#adapters/threads/spec-renderer.ts';
import { createFakeClock } from '../../support/clock.ts';

/** Takes the threads a while. */
const long = JSON.stringify({ a: Array.from({ length: 200_000 }, (_, at) => ({ at })) });

test.each([
  [
    'The specs could not be compared in time.',
    (clock: ReturnType<typeof createFakeClock>) =>
      createSpecDiffer({ clock })({ before: long, after: long }),
  ],
  [
    'The spec could not be written as YAML in time.',
    (clock: ReturnType<typeof createFakeClock>) => createSpecRenderer({ clock })(long),
  ],
])('work on specs that is given up says so to who reads: %s', async (detail, begin) => {
  const clock = createFakeClock();
  const given = begin(clock);
  await Promise.all([
    expect(given).rejects.toMatchObject({ code: 'overloaded', detail }),
    nextTurn().then(() => clock.advance(5000)),
  ]);
});
