/** Headers of every call, whoever makes it: the caller, the list, the feed or a copy. */
import { createClient, type ClientOptions } from '@trackport/client';
import { expect, test, vi } from 'vitest';

const PAGE = { items: [], pagination: { hasMore: false, nextCursor: 'c1' } };

/** Streams when asked to, and else has pages without an item. */
async function reply(input: string | URL | Request): Promise<Response> {
  const { headers, signal } = input as Request;
  signal.throwIfAborted();
  return headers.get('accept') === 'text/event-stream'
    ? new Response(': \nid: c2\n\n', { headers: { 'content-type': 'text/event-stream' } })
    : Response.json(PAGE);
}

type Test = { send: typeof fetch; options: ClientOptions };

function setup(more: Partial<ClientOptions> = {}): Test & { sent: Request[] } {
  const sent: Request[] = [];
  const send: typeof fetch = async (input) => {
    sent.push(input as Request);
    return reply(input);
  };
  return { send, sent, options: { baseUrl: 'http://service.test', fetch: send, ...more } };
}

const kind = ({ url, headers }: Request): string => {
  const { pathname, searchParams } = new URL(url);
  if (headers.get('accept') === 'text/event-stream') return 'stream';
  return searchParams.has('wait') ? 'poll' : pathname.replace('/api/v1/', '');
};

/** Every way to call, until it waits. */
const ways = {
  GET: (client) => client.GET('/api/v1/me'),
  leads: (client) => client.leads().next(),
  'changes by stream': (client, signal) => drain(client.changes({ transport: 'stream', signal })),
  'changes by poll': (client, signal) => drain(client.changes({ transport: 'poll', signal })),
  follow: (client, signal) => client.follow(emptyStore, { signal }).ended,
} satisfies Record<
  string,
  (client: ReturnType<typeof createClient>, signal: AbortSignal) => Promise<unknown>
>;

const emptyStore = { cursor: () => undefined, apply() {}, beginNew() {}, swap() {} };

async function drain(source: AsyncIterable<unknown>): Promise<void> {
  for await (const _each of source);
}

const calls = {
  GET: ['me'],
  leads: ['leads'],
  'changes by stream': ['leads/changes', 'stream'],
  'changes by poll': ['leads/changes', 'poll'],
  follow: ['leads/changes', 'stream'],
};

test.each(Object.keys(ways) as (keyof typeof ways)[])(
  '%s: middleware sees each call, and a key that is a function is asked for each',
  async (way) => {
    let keys = 0;
    const { options, sent } = setup({ apiKey: async () => `key${(keys += 1)}` });
    const end = new AbortController();
    const client = createClient(options);
    const seen: [string, string | null][] = [];
    client.use({
      onRequest: ({ request }) => {
        seen.push([kind(request), request.headers.get('x-api-key')]);
      },
    });
    const over = ways[way](client, end.signal).catch(() => undefined);
    await vi.waitFor(() => expect(seen.length).toBeGreaterThanOrEqual(calls[way].length));
    end.abort();
    await over;
    expect(seen.slice(0, calls[way].length)).toEqual(
      calls[way].map((call, index) => [call, `key${index + 1}`]),
    );
    expect(sent.map(({ headers }) => headers.get('x-api-key'))).toEqual(seen.map(([, key]) => key));
  },
);

test.each([
  [{ apiKey: 'k1' }, 'x-api-key', 'k1'],
  [{ apiKey: () => 'k2' }, 'x-api-key', 'k2'],
  [{ token: 't1' }, 'authorization', 'Bearer t1'],
  [{ token: async () => 't2' }, 'authorization', 'Bearer t2'],
  [{ apiKey: 'k3', headers: { 'X-API-KEY': 'own' } }, 'x-api-key', 'own'],
  [{ apiKey: '' }, 'x-api-key', null],
])('%o is sent as %s', async (more, header, value) => {
  const { options, sent } = setup(more);
  await createClient(options).GET('/api/v1/me');
  expect(sent[0]?.headers.get(header)).toBe(value);
});

test('a key that cannot be had is an error of the call', async () => {
  const { options } = setup({ apiKey: () => Promise.reject(new Error('no vault')) });
  await expect(createClient(options).GET('/api/v1/me')).rejects.toThrow('no vault');
});

test.each([
  'adapter.example.com',
  'localhost:8080',
  '//adapter',
  '/api',
  '',
  'ftp://adapter',
  'https://',
])(
  'an address without a scheme that is HTTP, or without a host, is refused with the remedy: %j',
  (baseUrl) => {
    expect(() => createClient({ baseUrl })).toThrow(TypeError);
    expect(() => createClient({ baseUrl })).toThrow('begins with https:// or http://');
  },
);

test.each(['http://localhost:8080', 'HTTPS://adapter.example.com/', 'http://[::1]:8080/under'])(
  'a whole address is taken: %s',
  async (baseUrl) => {
    const { options, sent } = setup({ baseUrl });
    await createClient(options).GET('/api/v1/me');
    expect(sent[0]?.url).toBe(`${new URL(baseUrl).href.replace(/\/$/, '')}/api/v1/me`);
  },
);
