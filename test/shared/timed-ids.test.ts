import { expect, test } from 'vitest';
import { z } from 'zod';
import { systemClock } from '#shared/clock.ts';
import { createTimedIds } from '#shared/ids.ts';

test('timed ids are UUIDs of version 7 that begin with the time and never repeat', () => {
  let now = 1_790_000_000_000;
  const newId = createTimedIds({ ...systemClock, now: () => now });
  const early = Array.from({ length: 1000 }, newId);
  now += 1;
  const late = newId();
  expect(new Set(early).size).toBe(1000);
  for (const id of early) {
    expect(z.uuidv7().safeParse(id).success).toBe(true);
    expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(1_790_000_000_000);
    expect(id < late).toBe(true);
  }
});
