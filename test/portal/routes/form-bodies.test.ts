import { afterEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { createBodyReaders } from '#adapters/threads/body-readers.ts';
import { startBodyThread } from '../../support/threads.ts';
import { action } from '#portal/routes/action-route.ts';
import { createFakeClock } from '../../support/clock.ts';
import { startPortal } from '../../support/world.ts';

const FORM_BYTES_MAX = 6 * 1024 * 1024;
const spec = 'é'.repeat(500_000);

/** A form with one long field, and how long what came was. */
const longForm = (lengths: number[]) => [
  action({
    path: '/portal/things',
    form: z.object({ spec: z.string() }),
    formBytesMax: FORM_BYTES_MAX,
    run: async (_context, { form }) => {
      lengths.push(form.spec.length);
      return { location: '/portal' };
    },
  }),
];

afterEach(() => void vi.unstubAllGlobals());

/** Everything that this thread takes apart as a form, by its length. */
function countParsedHere(): number[] {
  const lengths: number[] = [];
  const Original = URLSearchParams;
  class Counted extends Original {
    constructor(...given: ConstructorParameters<typeof URLSearchParams>) {
      super(...given);
      if (typeof given[0] === 'string') lengths.push(given[0].length);
    }
  }
  vi.stubGlobal('URLSearchParams', Counted);
  return lengths;
}

describe('a form with a long text', () => {
  test('is not parsed on the thread that serves everybody', async () => {
    const lengths: number[] = [];
    const parseForm = createBodyReaders(startBodyThread(createFakeClock())).form;
    const portal = startPortal(longForm(lengths), { context: { parseForm } });
    const admin = await portal.signIn();
    const formToken = await admin.formToken();
    const send = () => admin.post('/portal/things', { spec, formToken }, { formToken: null });
    const parsed = countParsedHere();
    expect(await send()).toMatchObject({ status: 303 });
    expect(lengths).toEqual([spec.length]);
    expect(parsed.filter((length) => length > 64 * 1024)).toEqual([]);
  });

  test('would be counted if it were', async () => {
    const portal = startPortal(longForm([]));
    const admin = await portal.signIn();
    const formToken = await admin.formToken();
    const parsed = countParsedHere();
    await admin.post('/portal/things', { spec, formToken }, { formToken: null });
    expect(parsed.filter((length) => length > 64 * 1024)).toHaveLength(1);
  });

  test('finds no room beside other large bodies, small ones do', async () => {
    const lengths: number[] = [];
    const limits = { largeBodiesBytesMax: 128 * 1024 };
    const portal = startPortal(longForm(lengths), { app: { limits } });
    const admin = await portal.signIn();
    const large = await admin.post('/portal/things', { spec });
    expect(large).toMatchObject({ status: 503, headers: { 'retry-after': '2' } });
    expect(large.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(await admin.post('/portal/things', { spec: 'short' })).toMatchObject({ status: 303 });
    expect(lengths).toEqual([5]);
  });
});
