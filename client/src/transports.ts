import type { Client } from 'openapi-fetch';
import type { components, paths } from './api.ts';
import { ProblemError, unwrap } from './problem-error.ts';
import { isTransient, sleep } from './retry.ts';
import { createWatch, readParts } from './watch.ts';

/** A change of a lead, and the position behind it: keep both, at once. */
export type Change = components['schemas']['LeadFeedItem'] & {
  /** For the next `changes`, for 30 days. */
  cursor: string;
};

/** Changes that came at once, perhaps none. */
export type ChangeBatch = {
  /** Oldest first. */
  changes: Change[];
  /** The position behind all of them. */
  cursor: string;
  /** Everything up to now has been told with this batch. */
  caughtUp: boolean;
};

/** Every content type but a stream of events. */
export type Answers = `application/${string}`;

/** A position in the feed, or its start. */
export type Place = { cursor?: string; from?: 'start' };

/** Batches from a place on, until something breaks. */
type Turn = (place: Place, signal?: AbortSignal) => AsyncGenerator<ChangeBatch, void>;

export type Turns = {
  /** Ends with what is there already. */
  pages: Turn;
  /** Server-sent events. */
  stream: Turn;
  /** Pages, each of which waits until there is something. */
  poll: Turn;
};

/** The first event comes at once: where none does, something in between holds it back. */
const FIRST_EVENT_MS = 5000;
/** A stream without items says every 15 seconds that it is there. */
const SILENCE_MS = 45_000;
const PAGE_MS = 60_000;
const LIMIT_MAX = 500;
const AFTER_EMPTY_MS = 500;

/** `send` sends a call once: who follows goes on after failures by itself. */
export function createTurns(
  api: Client<paths, Answers>,
  send: (request: Request) => Promise<Response>,
): Turns {
  const readPage = createPageReader(api, send);
  return {
    pages: async function* pages(from, signal) {
      let place = from;
      let wait: string | undefined;
      for (let hasMore = true; hasMore;) {
        const batch = await readPage(place, wait, signal);
        yield batch;
        hasMore = !batch.caughtUp;
        place = { cursor: batch.cursor };
        // More is there, but cannot be told yet.
        wait = batch.changes.length === 0 ? '5s' : undefined;
      }
    },
    stream: createStream(api, send),
    poll: async function* poll(from, signal) {
      for (let place = from; ;) {
        const batch = await readPage(place, '30s', signal);
        yield batch;
        place = { cursor: batch.cursor };
        // Something in between may not let it wait.
        if (batch.changes.length === 0) await sleep(AFTER_EMPTY_MS, signal);
      }
    },
  };
}

function createPageReader(
  api: Client<paths, Answers>,
  send: (request: Request) => Promise<Response>,
) {
  return async (place: Place, wait?: string, signal?: AbortSignal): Promise<ChangeBatch> => {
    // A cursor first: what comes is behind one.
    const limit = place.cursor === undefined ? 1 : LIMIT_MAX;
    signal?.throwIfAborted();
    const watch = createWatch(signal);
    watch.expectWithin(PAGE_MS);
    try {
      const result = await api.GET('/api/v1/leads/changes', {
        params: { query: { ...place, limit, ...(wait !== undefined && { wait }) } },
        signal: watch.signal,
        fetch: send,
      });
      const { items, pagination } = unwrap(result);
      const { nextCursor: cursor, hasMore } = pagination;
      const last = items.length - 1;
      // A reader that has not all of a page reads it again.
      const changes = items.map((item, index) => ({
        ...item,
        cursor: index === last ? cursor : (place.cursor ?? cursor),
      }));
      return { changes, cursor, caughtUp: !hasMore };
    } finally {
      watch.end();
    }
  };
}

function createStream(
  api: Client<paths, Answers>,
  send: (request: Request) => Promise<Response>,
): Turn {
  return async function* stream(place, signal) {
    const watch = createWatch(signal);
    try {
      watch.expectWithin(FIRST_EVENT_MS);
      const result = await api.GET('/api/v1/leads/changes', {
        params: { query: place },
        headers: { accept: 'text/event-stream' },
        parseAs: 'stream',
        signal: watch.signal,
        fetch: send,
      });
      for await (const events of readEvents(toEventStream(result), watch.signal)) {
        watch.rest();
        yield toBatch(events);
        watch.expectWithin(SILENCE_MS);
      }
    } finally {
      watch.end();
    }
  };
}

type StreamResult = Parameters<typeof unwrap<ReadableStream<Uint8Array> | null>>[0];

/** A proxy that refuses a stream may let a page through. */
function toEventStream(result: StreamResult): ReadableStream<Uint8Array> {
  const type = result.response.headers.get('content-type') ?? '';
  try {
    const body = unwrap(result);
    if (type.startsWith('text/event-stream')) return body;
  } catch (error) {
    if (!isOfProxy(error)) throw error;
  }
  throw new Error(`No stream, but ${result.response.status} ${type}.`);
}

const isOfProxy = (error: unknown): boolean =>
  error instanceof ProblemError && error.code === undefined && !isTransient(error.status);

function toBatch(events: [StreamEvent, ...StreamEvent[]]): ChangeBatch {
  const changes = events
    .filter(({ name }) => name.startsWith('lead.'))
    .map(({ id, data }) => ({ ...(JSON.parse(data) as Change), cursor: id }));
  const { id: cursor, name } = events.at(-1) ?? events[0];
  return { changes, cursor, caughtUp: name === 'caught-up' };
}

/** An event of a stream; without a name it only tells how far the stream is. */
type StreamEvent = { id: string; name: string; data: string };

/**
 * The events of a body, as many as came at once, for what Trackport sends: one `data` line for each.
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */
async function* readEvents(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<[StreamEvent, ...StreamEvent[]], void> {
  const fields = { id: '', event: '', data: '' };
  for await (const lines of readLines(body, signal)) {
    const events: StreamEvent[] = [];
    for (const line of lines) {
      const [, field, value = ''] = /^(id|event|data): ?(.*)$/s.exec(line) ?? [];
      if (field) fields[field as keyof typeof fields] = value;
      if (line !== '') continue;
      events.push({ id: fields.id, name: fields.event, data: fields.data });
      Object.assign(fields, { event: '', data: '' });
    }
    const [first, ...others] = events;
    if (first) yield [first, ...others];
  }
}

/** Whole lines alone, as many as came at once: a stream that was cut in one has not sent it. */
async function* readLines(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<string[], void> {
  const decoder = new TextDecoder();
  let open = '';
  for await (const part of readParts(body, signal)) {
    const lines = (open + decoder.decode(part, { stream: true })).split('\n');
    open = lines.pop() ?? '';
    yield lines;
  }
}
