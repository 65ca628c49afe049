import { describe, expect, test } from 'vitest';
import { HOUR } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import { createIdempotency, type KeyedRequest, type StoredResponse } from '#shared/idempotency.ts';
import { createFakeClock } from '../support/clock.ts';
import { temporaryDatabase } from '../support/stores.ts';

const setUp = () => ({
  db: temporaryDatabase(),
  clock: createFakeClock(),
});

describe('a keyed call', () => {
  const keyed: KeyedRequest = {
    workspaceId: 'w',
    principal: 'p',
    route: 'POST /x',
    key: 'k',
    payload: 1,
  };
  const response: StoredResponse = { status: 201, headers: { etag: '"x"' }, body: 'ünï' };

  test('that runs keeps others out for as long as it runs', async () => {
    const { db, clock } = setUp();
    const idempotency = createIdempotency({ db, clock });
    let end: (made: StoredResponse) => void = () => undefined;
    const work = () => new Promise<StoredResponse>((resolve) => (end = resolve));
    const first = idempotency.respond(keyed, { work });
    const second = idempotency.respond(keyed, { work });
    await expect(second).rejects.toMatchObject({ code: 'idempotency-in-progress' });
    const other = idempotency.respond({ ...keyed, payload: 2 }, { work });
    await expect(other).rejects.toMatchObject({ code: 'idempotency-mismatch' });
    end(response);
    expect(await first).toEqual({ response, isReplayed: false });
    expect(await idempotency.respond(keyed, { work })).toEqual({
      response,
      isReplayed: true,
    });
  });

  test('that runs is waited for by a repeat that says so, which does the work where the first fails', async () => {
    const { db, clock } = setUp();
    const idempotency = createIdempotency({ db, clock });
    for (const failure of [undefined, new TrackportError('bad-request')]) {
      const { promise: begun, resolve: end } = Promise.withResolvers<void>();
      let runs = 0;
      const work = async (): Promise<StoredResponse> => {
        runs += 1;
        await begun;
        if (failure && runs === 1) throw failure;
        return response;
      };
      const respond = (payload = 1) =>
        idempotency.respond(
          { ...keyed, key: failure?.code ?? 'done', payload },
          { work, waitsForFirst: true },
        );
      const all = Promise.allSettled([respond(), respond(), respond()]);
      await expect(respond(2)).rejects.toMatchObject({ code: 'idempotency-mismatch' });
      end();
      const [first, repeat] = [false, true].map((isReplayed) => ({
        value: { response, isReplayed },
      }));
      expect(await all).toMatchObject(
        failure ? [{ reason: failure }, first, repeat] : [first, repeat, repeat],
      );
      expect(runs).toBe(failure ? 2 : 1);
    }
  });

  test('that another process did meanwhile gets the answer of that one', async () => {
    const { db, clock } = setUp();
    const [here, there] = [1, 2].map(() => createIdempotency({ db, clock }));
    const work = async (): Promise<StoredResponse> => {
      await there?.respond(keyed, { work: async () => response });
      throw new TrackportError('version-exists');
    };
    expect(await here?.respond(keyed, { work })).toEqual({ response, isReplayed: true });
  });

  test('is remembered for a day and no longer', async () => {
    const { db, clock } = setUp();
    const idempotency = createIdempotency({ db, clock });
    let runs = 0;
    const work = async (): Promise<StoredResponse> => {
      runs += 1;
      return response;
    };
    await idempotency.respond(keyed, { work });
    await clock.advance(24 * HOUR);
    expect(await idempotency.respond(keyed, { work })).toEqual({
      response,
      isReplayed: true,
    });
    await clock.advance(1);
    expect(await idempotency.respond(keyed, { work })).toEqual({
      response,
      isReplayed: false,
    });
    expect(runs).toBe(2);
  });
});
