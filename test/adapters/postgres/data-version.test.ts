import { setImmediate as endOfTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createVersionReader } from '#adapters/postgres/database.ts';

/** A server that responds when told to, with the snapshot it is given. */
function createServer() {
  const questions: PromiseWithResolvers<{ snapshot: string }>[] = [];
  const get = (): Promise<never> => {
    const question = Promise.withResolvers<{ snapshot: string }>();
    questions.push(question);
    return question.promise as Promise<never>;
  };
  return { questions, version: createVersionReader({ get }) };
}

/** A question is asked at the end of a turn. */
async function untilAsked(questions: readonly unknown[], count: number): Promise<void> {
  while (questions.length < count) await endOfTurn();
}

test('is another number whenever the snapshot is another one', async () => {
  const snapshots = ['1', '1', '2', '2', '1'];
  const version = createVersionReader({
    get: async () => ({ snapshot: snapshots.shift() }) as never,
  });
  const read: number[] = [];
  for (let turn = 0; turn < 5; turn += 1) read.push(await version());
  expect(read).toEqual([1, 1, 2, 2, 3]);
});

test('calls that come while the server is asked share the next question, which sees what is newer', async () => {
  const { questions, version } = createServer();
  const first = version();
  await untilAsked(questions, 1);
  const later = [version(), version(), version()];
  questions[0]?.resolve({ snapshot: 'before' });
  expect(await first).toBe(1);
  await untilAsked(questions, 2);
  questions[1]?.resolve({ snapshot: 'after' });
  expect(await Promise.all(later)).toEqual([2, 2, 2]);
  expect(questions).toHaveLength(2);
});
