/** A copy by `follow`: what it is told, in which order, and what becomes of it when the cursor has expired. */
import { createClient, type LeadStore } from '@trackport/client';
import { expect, onTestFinished, test, vi } from 'vitest';

type Item = { type: string; id: string; at: string; lead?: object };

const put = (id: string): Item => ({ type: 'lead.changed', id, at: '', lead: { id } });
const removed = (id: string): Item => ({ type: 'lead.removed', id, at: '' });
const page = (nextCursor: string, items: Item[], hasMore = false): Response =>
  Response.json({ items, pagination: { hasMore, nextCursor } });
const expired = (): Response => Response.json({ code: 'cursor-expired' }, { status: 410 });

const event = (id: string, item: Item): string =>
  `id: ${id}\nevent: ${item.type}\ndata: ${JSON.stringify(item)}\n\n`;
const caughtUp = (id: string): string => `id: ${id}\nevent: caught-up\ndata: {}\n\n`;

/** A stream that sends these texts, and then nothing. */
function stream(...texts: string[]): Response {
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const text of texts) controller.enqueue(new TextEncoder().encode(text));
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

/** Follows what these replies say; whoever asks for more waits. */
function setup(replies: (Response | ((query: URLSearchParams) => Response))[], cursor?: string) {
  const hangUp = new AbortController();
  const asked: string[] = [];
  const log: string[] = [];
  const copy = { leads: new Set<string>(), cursor };
  let next: typeof copy | undefined;
  const store: LeadStore = {
    cursor: () => copy.cursor,
    apply: ({ changes, cursor: kept }) => {
      const into = next ?? copy;
      for (const { type, id } of changes)
        if (type === 'lead.changed') into.leads.add(id);
        else into.leads.delete(id);
      into.cursor = kept;
      log.push(`${next ? 'new ' : ''}${changes.map(({ id }) => id).join(' ')}@${kept}`);
    },
    beginNew: () => {
      next = { leads: new Set(), cursor: undefined };
      log.push('begin');
    },
    swap: () => {
      Object.assign(copy, next);
      next = undefined;
      log.push('swap');
    },
  };
  const client = createClient({
    baseUrl: 'http://service.test',
    fetch: async (input) => {
      const { url, signal } = input as Request;
      signal.throwIfAborted();
      const query = new URL(url).searchParams;
      asked.push(query.get('cursor') ?? query.get('from') ?? 'now');
      const reply = replies.shift();
      if (reply) return typeof reply === 'function' ? reply(query) : reply;
      return new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason)),
      );
    },
  });
  onTestFinished(() => hangUp.abort());
  return { hangUp, client, store, copy, log, asked, signal: hangUp.signal };
}

test('what is there comes in batches, each with its cursor, and its end can be awaited', async () => {
  const { client, store, copy, log, asked, signal, hangUp } = setup([
    page('c1', [put('1')], true),
    page('c2', [put('2'), put('3')], true),
    page('c3', [removed('2')]),
  ]);
  const following = client.follow(store, { signal });
  await following.caughtUp;
  expect(log).toEqual(['1@c1', '2 3@c2', '2@c3']);
  expect([...copy.leads]).toEqual(['1', '3']);
  hangUp.abort();
  await following.ended;
  expect(asked.slice(0, 3)).toEqual(['start', 'c1', 'c2']);
});

test('where nothing is there the cursor of the first answer is kept', async () => {
  const { client, store, log, signal } = setup([page('c1', [])]);
  await client.follow(store, { signal }).caughtUp;
  expect(log).toEqual(['@c1']);
});

test('a copy goes on from its cursor', async () => {
  const { client, store, asked, signal } = setup([page('c2', [])], 'c1');
  await client.follow(store, { signal }).caughtUp;
  expect(asked[0]).toBe('c1');
});

test('a stream brings what comes at once as one batch; what tells of its state is no change', async () => {
  const { client, store, log, signal } = setup([
    page('c1', []),
    stream(`: \nid: c1\n\n${caughtUp('c1')}`, event('c2', put('1')) + event('c3', put('2'))),
  ]);
  client.follow(store, { signal });
  await expect.poll(() => log).toEqual(['@c1', '1 2@c3']);
});

test('after 410 a new copy is made beside the old one, which is swapped when it has everything', async () => {
  const { client, store, copy, log, signal } = setup(
    [
      expired(),
      page('d1', [put('1')], true),
      () => {
        expect([...copy.leads]).toEqual(['old']);
        return page('d2', [put('2')]);
      },
    ],
    'c9',
  );
  copy.leads.add('old');
  await client.follow(store, { signal }).caughtUp;
  expect(log).toEqual(['begin', 'new 1@d1', 'new 2@d2', 'swap']);
  expect([...copy.leads]).toEqual(['1', '2']);
  expect(copy.cursor).toBe('d2');
});

test('a new copy whose cursor expires is begun again', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const replies = [expired(), page('d1', [put('1')], true), expired(), page('e1', [put('2')])];
  const { client, store, copy, log, signal } = setup(replies, 'c9');
  const { caughtUp: whole } = client.follow(store, { signal });
  await vi.advanceTimersByTimeAsync(500);
  await whole;
  expect(log).toEqual(['begin', 'new 1@d1', 'begin', 'new 2@e1', 'swap']);
  expect([...copy.leads]).toEqual(['2']);
});

test('cursors that expire as soon as they are given are asked with ever longer waits', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const replies = Array.from({ length: 40 }, (_, at) => [page(`c${at}`, [put('1')]), expired()]);
  const { client, store, asked, signal } = setup(replies.flat());
  const waits: number[] = [];
  client.follow(store, { signal, onFailure: (_error, waitMs) => waits.push(waitMs) });
  await vi.advanceTimersByTimeAsync(4000);
  expect(asked.length).toBeLessThan(20);
  expect(waits[0]).toBeLessThanOrEqual(500);
  expect(waits[2]).toBeGreaterThanOrEqual(1000);
});

test('a new copy of nothing is swapped, too', async () => {
  const { client, store, copy, signal } = setup([expired(), page('d1', [])], 'c9');
  copy.leads.add('old');
  await client.follow(store, { signal }).caughtUp;
  expect([[...copy.leads], copy.cursor]).toEqual([[], 'd1']);
});

test.each([
  ['a refused key', Response.json({ code: 'unauthorized' }, { status: 401 }), 'unauthorized'],
  ['a store that fails', page('c1', [put('1')]), 'disk full'],
])('%s ends it, for who waits for either', async (_what, reply, message) => {
  const { client, store, signal } = setup([reply]);
  const failing = { ...store, apply: () => Promise.reject(new Error('disk full')) };
  const { caughtUp, ended } = client.follow(failing, { signal });
  await expect(ended).rejects.toThrow(message);
  await expect(caughtUp).rejects.toThrow(message);
});

test('who ends it before the copy has everything is told so', async () => {
  const { client, store, signal, hangUp } = setup([page('c1', [put('1')], true)]);
  const { caughtUp, ended } = client.follow(store, { signal });
  hangUp.abort(new Error('enough'));
  await ended;
  await expect(caughtUp).rejects.toThrow('enough');
});
