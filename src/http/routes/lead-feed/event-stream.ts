import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { FeedEvent } from '#leads/lead-feed/lead-feed.ts';
import { renderFeedItem } from '#leads/lead-feed/feed-item.ts';
import type { Exchange } from '../../http-app.ts';
import { memoize } from '#shared/caching.ts';
import { SECOND } from '#shared/clock.ts';

/** A listener that has not read what it was sent for so long is ended. */
const READ_WITHIN_MS = 10 * SECOND;

/**
 * Sends events until there are no more. What fails before the first one is the caller's to report; what fails later
 * ends the stream, and whoever listens goes on behind its last event.
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
export async function sendEvents(
  { request, reply, headers }: Exchange & { headers: Readonly<Record<string, string>> },
  events: AsyncGenerator<FeedEvent, void>,
  signal: AbortSignal,
): Promise<void> {
  const first = await events.next();
  const { raw } = reply;
  reply.hijack();
  raw.writeHead(200, [
    ...(request.headersOut ?? []),
    ...Object.entries(headers).flat(),
    'content-type',
    'text/event-stream; charset=utf-8',
    'x-accel-buffering',
    'no',
  ]);
  try {
    if (!first.done) await write(raw, toText(first.value), signal);
    for await (const event of events) await write(raw, toText(event), signal);
    raw.end();
  } catch {
    raw.destroy();
  }
}

/** Without an item it is no event, and its `id` is kept all the same. */
const toText = memoize(({ cursor, item }: FeedEvent): Buffer => {
  if (!item) return Buffer.from(`: \nid: ${cursor}\n\n`);
  const head = Buffer.from(`id: ${cursor}\nevent: ${item.type}\ndata: `);
  return Buffer.concat([head, renderFeedItem(item), Buffer.from('\n\n')]);
});

async function write(raw: ServerResponse, text: Buffer, signal: AbortSignal): Promise<void> {
  if (raw.write(text) || signal.aborted) return;
  await once(raw, 'drain', {
    signal: AbortSignal.any([signal, AbortSignal.timeout(READ_WITHIN_MS)]),
  });
}
