import type { Client } from 'openapi-fetch';
import type { components, paths } from './api.ts';
import { unwrap } from './problem-error.ts';

type FeedItem = components['schemas']['LeadFeedItem'];

/** Where the feed goes on, or begins. */
export type Place = { cursor?: string; from?: 'start' };

/** An item and the cursor behind it; the cursor alone where nothing changed. */
type Step = { cursor: string; item?: FeedItem };

/** Steps from a place on, until something breaks. */
export type Turn = (place: Place, signal?: AbortSignal) => AsyncGenerator<Step, void>;

/** The first event comes at once: where none does, something in between holds it back. */
const FIRST_EVENT_MS = 5000;
/** A stream without items says every 15 seconds that it is there. */
const SILENCE_MS = 45_000;
const POLL_MS = 60_000;

/** Server-sent events. */
export function createStream(api: Client<paths>): Turn {
  return async function* stream(place, signal) {
    const watch = createWatch(signal);
    try {
      watch.expectWithin(FIRST_EVENT_MS);
      const result = await api.GET('/api/v1/leads/changes', {
        params: { query: place },
        headers: { accept: 'text/event-stream' },
        parseAs: 'stream',
        signal: watch.signal,
      });
      const body = unwrap(result);
      const type = result.response.headers.get('content-type') ?? '';
      if (!type.startsWith('text/event-stream')) throw new Error(`No stream, but ${type}.`);
      for await (const { id, data } of readEvents(body, watch.signal)) {
        watch.rest();
        const item = data === '' ? undefined : (JSON.parse(data) as FeedItem);
        yield { cursor: id, ...(item && { item }) };
        watch.expectWithin(SILENCE_MS);
      }
    } finally {
      watch.end();
    }
  };
}

/** Pages, each of which waits until there is something. */
export function createPoll(api: Client<paths>): Turn {
  return async function* poll(from, signal) {
    for (let place = from; ;) {
      // A cursor first, so that what comes is behind it.
      const more = place.cursor === undefined ? { limit: 1 } : { wait: '30s' };
      const timeout = AbortSignal.timeout(POLL_MS);
      const result = await api.GET('/api/v1/leads/changes', {
        params: { query: { ...place, ...more } },
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      });
      const { items, pagination } = unwrap(result);
      const { cursor: before = pagination.nextCursor } = place;
      // Who has not all of a page reads it again.
      for (const item of items.slice(0, -1)) yield { cursor: before, item };
      const last = items.at(-1);
      yield { cursor: pagination.nextCursor, ...(last && { item: last }) };
      place = { cursor: pagination.nextCursor };
    }
  };
}

/** A signal that is aborted when what was expected did not come in time. */
function createWatch(signal?: AbortSignal) {
  const late = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const rest = (): void => clearTimeout(timer);
  return {
    signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal,
    expectWithin: (ms: number): void => {
      rest();
      timer = setTimeout(() => late.abort(new Error(`Nothing came for ${ms / 1000} s.`)), ms);
    },
    rest,
    end: (): void => {
      rest();
      late.abort();
    },
  };
}

/** An event of a stream; without `data` it only tells how far the stream is. */
type StreamEvent = { id: string; data: string };

/**
 * The events of a body, for what Trackport sends: one `data` line for each.
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */
async function* readEvents(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent, void> {
  let id = '';
  let data = '';
  for await (const line of readLines(body, signal)) {
    if (line === '') {
      yield { id, data };
      data = '';
    } else if (line.startsWith('id: ')) id = line.slice('id: '.length);
    else if (line.startsWith('data: ')) data = line.slice('data: '.length);
  }
}

/**
 * Whole lines alone: a stream that was cut in one has not sent it. Ends when `signal` is aborted, too: `fetch` itself
 * may have forgotten the signal of a response that is under way, once Node has collected its garbage.
 */
async function* readLines(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  signal.addEventListener('abort', cancel);
  let open = '';
  try {
    while (!signal.aborted) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (open + decoder.decode(value, { stream: true })).split('\n');
      open = lines.pop() ?? '';
      yield* lines;
    }
  } finally {
    signal.removeEventListener('abort', cancel);
    cancel();
  }
}
