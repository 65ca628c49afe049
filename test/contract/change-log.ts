import { describe, expect, onTestFinished, test } from 'vitest';
import { BATCHES_KEPT, type ChangeLog } from '#leads/instance-changes/change-log.ts';

/** Contract of every change log; `open` answers those of two instances on one empty store. */
export function describeChangeLog(
  engine: string,
  open: () => Promise<{ mine: ChangeLog; theirs: ChangeLog }>,
): void {
  describe(`the change log in ${engine}`, () => {
    test('batches of all instances are in one order without holes, and own ones are empty', async () => {
      const { mine, theirs } = await open();
      expect(await mine.lastPosition()).toBe(0);
      await mine.append('1');
      await theirs.append('2, 3');
      await mine.append('4');
      expect(await mine.readAfter(0)).toEqual([
        { position: 1 },
        { position: 2, text: '2, 3' },
        { position: 3 },
      ]);
      expect(await theirs.readAfter(1)).toEqual([{ position: 2 }, { position: 3, text: '4' }]);
      expect(await theirs.lastPosition()).toBe(3);
    });

    test('the newest batches are kept, and a reader that is older finds a hole', async () => {
      const { mine, theirs } = await open();
      const written = Array.from({ length: BATCHES_KEPT + 3 }, (_, at) => mine.append(String(at)));
      await Promise.all(written);
      const batches = await theirs.readAfter(0);
      expect(batches).toHaveLength(BATCHES_KEPT);
      expect(batches.map(({ position }) => position)).toEqual(
        Array.from({ length: BATCHES_KEPT }, (_, at) => at + 4),
      );
    });

    test('whoever watches is called after each batch, its own and those of others, until it stops', async () => {
      const { mine, theirs } = await open();
      const seen: number[] = [];
      let calls = 0;
      const watch = mine.watch(() => {
        calls += 1;
        void mine.lastPosition().then((last) => seen.push(last));
      });
      onTestFinished(() => watch.close());
      for (const [at, log] of [theirs, mine, theirs].entries()) {
        await log.append(String(at));
        await expect.poll(() => seen.at(-1)).toBe(at + 1);
      }
      await watch.close();
      const before = calls;
      await theirs.append('9');
      await mine.readAfter(0);
      expect(calls).toBe(before);
    });

    test('batches appended at the same time are all there, without holes', async () => {
      const { mine, theirs } = await open();
      await Promise.all(
        Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? mine : theirs).append(String(at))),
      );
      const batches = [...(await mine.readAfter(0)), ...(await theirs.readAfter(0))];
      const texts = batches.flatMap(({ text }) => text ?? []);
      expect(new Set(texts)).toEqual(new Set(Array.from({ length: 20 }, (_, at) => String(at))));
      expect((await mine.readAfter(0)).map(({ position }) => position)).toEqual(
        Array.from({ length: 20 }, (_, at) => at + 1),
      );
    });
  });
}
