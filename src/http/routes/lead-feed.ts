import { z } from 'zod';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  bytesOfPage,
  CAUGHT_UP,
  feedEventOut,
  feedPageOut,
  piecesOf,
  renderFeedPage,
} from '#leads/lead-feed/feed-item.ts';
import type { FeedQuery, FeedEvent } from '#leads/lead-feed/lead-feed.ts';
import { SECOND } from '#shared/clock.ts';
import { CURSOR_CHARACTERS_MAX } from '#shared/pagination/page.ts';
import { parseDuration } from '#shared/text/units.ts';
import { type AreaContext, type HttpApp, hangUpOf, onceSent, type Exchange } from '../context.ts';
import { lostGrants, admitLeadReaders, visibilityOf } from '../auth/key-access.ts';
import { describeRoute } from '../route.ts';
import { cursorParameter, limitUpTo, parsedBy } from '../requests/parameters.ts';
import { prefers } from '../requests/headers.ts';
import { JSON_MEDIA_TYPE, uncached } from '../responses/headers.ts';
import { addCorsHeaders } from '../responses/response-hooks.ts';
import { TrackportError } from '#shared/errors.ts';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { memoize } from '#shared/caching.ts';

const WAIT_MAX_MS = 30 * SECOND;
/** A stream without an item says so often that it is there. */
const BEAT_MS = 15 * SECOND;

/** Changes of the leads that a key may read: page by page, waiting for more, or as a stream of events. */
export function leadFeedRoutes(app: HttpApp, context: AreaContext): void {
  const { leads, backlog } = context;
  const { leadFeed } = leads;
  const listeners = createListeners(context.ending, (requests) => lostGrants(context, requests));
  const sendPage = async (request: FastifyRequest, reply: FastifyReply, query: ChangesQuery) => {
    const waitMs = isHead(request) ? 0 : (query.wait ?? 0);
    const read = async (signal: AbortSignal) =>
      leadFeed.read(toQuery(query), visibilityOf(request), { waitMs, signal });
    const page = await (waitMs > 0 ? listeners.wait(request, read) : read(hangUpOf(request)));
    if (!isHead(request))
      onceSent(request, () => leadFeed.notePageTold(toQuery(query), page, visibilityOf(request)));
    return backlog.send(request, bytesOfPage(page), async () => {
      const items = await leadFeed.withoutClaimed(page.items);
      const shown = items === page.items ? page : { ...page, items };
      return reply.header('content-type', JSON_MEDIA_TYPE).send(renderFeedPage(shown));
    });
  };
  const stream = async (request: FastifyRequest, reply: FastifyReply, query: ChangesQuery) => {
    const { 'last-event-id': lastEventId } = request.headers;
    const from = toQuery(query, typeof lastEventId === 'string' ? lastEventId : undefined);
    if (isHead(request)) {
      const events = leadFeed.follow(from, visibilityOf(request), { waitMs: 0, signal: ENDED });
      await events.next();
      await events.return();
      beginStream({ request, reply }).end();
      return reply;
    }
    await listeners.wait(request, async (signal) => {
      const wait = { waitMs: BEAT_MS, signal };
      const events = leadFeed.follow(from, visibilityOf(request), wait);
      await sendEvents({ request, reply }, context, events, signal);
    });
    return reply;
  };
  admitLeadReaders(app, context);
  app.addHook('onClose', async () => listeners.close());
  app.get('/api/v1/leads/changes', changesRoute, (request, reply) =>
    prefers('text/event-stream', request.headers.accept)
      ? stream(request, reply, request.query)
      : sendPage(request, reply, request.query),
  );
}

/** A HEAD asks what a GET would be answered, and waits for nothing. */
const isHead = ({ method }: FastifyRequest): boolean => method === 'HEAD';
const ENDED = AbortSignal.abort();

const sends = { ...uncached, Vary: 'X-API-KEY, Accept' };

const changesQuery = z
  .strictObject({
    limit: limitUpTo(500, 100),
    cursor: cursorParameter.optional().meta({
      description: '`pagination.nextCursor` of the page before. Without it the feed begins now.',
    }),
    from: z.literal('start', 'must be `start`').optional().meta({
      description:
        'Begins with every lead that is readable now, and goes on with what changes from then on.',
    }),
    wait: z
      .string('must be given once')
      .meta({ pattern: '^\\d{1,9}(ms|s|m)$', example: '30s' })
      .transform(parsedBy(toWaitMs, 'must be a duration from 0s to 30s'))
      .optional()
      .meta({
        description: 'How long an empty answer is held open until something comes: `0s` to `30s`.',
      }),
  })
  .superRefine(({ cursor, from }, issues) => {
    if (cursor !== undefined && from !== undefined)
      issues.addIssue({
        code: 'custom',
        path: ['from'],
        message: 'must not stand beside `cursor`, which says where to go on',
      });
  });

const lastEventIdHeader = z.object({
  // Described, not checked: whatever is no cursor gets the same answer.
  'Last-Event-ID': z.string().optional().meta({
    description: 'The `id` of the last event of a stream that was cut, in place of `cursor`.',
    maxLength: CURSOR_CHARACTERS_MAX,
  }),
});

function toWaitMs(text: string): number | undefined {
  const ms = parseDuration(text);
  return ms !== undefined && ms <= WAIT_MAX_MS ? ms : undefined;
}

type ChangesQuery = z.infer<typeof changesQuery>;

/** A stream that was cut goes on behind the last event, whatever it was begun with. */
function toQuery({ limit, cursor, from }: ChangesQuery, lastEventId?: string): FeedQuery {
  const place = lastEventId === '' ? cursor : (lastEventId ?? cursor);
  return { limit, fromStart: from === 'start', ...(place !== undefined && { cursor: place }) };
}

const changesRoute = describeRoute({
  tag: 'Leads',
  operationId: 'listLeadChanges',
  summary: 'Follow what changes',
  description:
    'The lead feed: what a copy needs to stay right, oldest first. `lead.changed` brings the lead as it is now, `lead.removed` says that it lost its approval or a label that the grant asks for, went from the tracker, or was taken away by a deletion. Of several changes of one lead a reader gets the last. Begin with `from=start`, and go on with `pagination.nextCursor`, which is always there and good for 30 days; after 410 begin again into an empty copy. With `Accept: text/event-stream` the same items come as server-sent events, each with its cursor as `id`, `caught-up` says that everything up to now was told, and `Last-Event-ID` resumes.',
  security: 'ApiKey',
  request: { querystring: changesQuery, headers: lastEventIdHeader },
  ok: {
    200: {
      description: 'What changed, perhaps nothing.',
      schema: feedPageOut,
      others: { 'text/event-stream': feedEventOut },
    },
  },
  sends,
  problems: [
    'invalid-cursor',
    'cursor-expired',
    'insufficient-scope',
    'tracker-failed',
    'tracker-unavailable',
  ],
});

type Listeners = {
  /**
   * Does what waits for changes. Its signal is aborted when the caller hung up, its key is not good any more, or the
   * service stops. @throws {quota-exceeded} too many of the same consumer wait already
   */
  wait<T>(request: FastifyRequest, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  close(): void;
};

/** Of one consumer, in one process. */
const LISTENERS_MAX = 100;

/** A lost grant ends a stream within a second, and is known here within a half. */
const LOOK_EVERY_MS = 250;

/** Holds those who wait for changes. Now and then `lost` tells whose grant is gone. */
function createListeners(
  stopping: AbortSignal,
  lost: (requests: Iterable<FastifyRequest>) => Promise<FastifyRequest[]>,
): Listeners {
  const waiting = new Map<FastifyRequest, AbortController>();
  const look = async (): Promise<void> => {
    for (const request of await lost(waiting.keys())) waiting.get(request)?.abort();
  };
  const looking = setInterval(() => void look(), LOOK_EVERY_MS).unref();
  stopping.addEventListener('abort', () => {
    for (const over of waiting.values()) over.abort();
  });
  return {
    wait: async (request, work) => {
      const { consumerId } = visibilityOf(request);
      let own = 0;
      for (const one of waiting.keys()) if (visibilityOf(one).consumerId === consumerId) own += 1;
      if (own >= LISTENERS_MAX) refuseListener();
      const over = new AbortController();
      if (stopping.aborted) over.abort();
      waiting.set(request, over);
      return work(hangUpOf(request, over)).finally(() => waiting.delete(request));
    },
    close: () => clearInterval(looking),
  };
}

function refuseListener(): never {
  throw new TrackportError('quota-exceeded', {
    detail: `${LISTENERS_MAX} requests of this consumer wait for changes already. End some of them first.`,
    retryAfterSeconds: 30,
  });
}

/** A listener that has not read what it was sent for so long is ended. */
const READ_WITHIN_MS = 10 * SECOND;

/** Begins the response, whose headers say what follows. */
function beginStream({ request, reply }: Exchange): ServerResponse {
  const { raw } = reply;
  addCorsHeaders(request, reply.headers(sends));
  raw.writeHead(200, [
    ...Object.entries(reply.getHeaders()).flatMap(([name, value]) => [name, String(value)]),
    'content-type',
    'text/event-stream; charset=utf-8',
    'x-accel-buffering',
    'no',
  ]);
  reply.hijack();
  return raw;
}

/**
 * Sends events until there are no more. What fails before the first one is the caller's to report; what fails later
 * ends the stream, and whoever listens goes on behind its last event.
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
async function sendEvents(
  exchange: Exchange,
  { backlog, leads }: Pick<AreaContext, 'backlog' | 'leads'>,
  events: AsyncGenerator<FeedEvent, void>,
  signal: AbortSignal,
): Promise<void> {
  const send = async (raw: ServerResponse, event: FeedEvent): Promise<void> => {
    const pieces = toPieces(event);
    const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
    const wasRead = await backlog.take(exchange.request, bytes);
    try {
      const items = event.item ? [event.item] : [];
      const shown = await leads.leadFeed.withoutClaimed(items);
      if (shown.length === items.length) await write(raw, pieces, signal);
    } finally {
      wasRead();
    }
  };
  const first = await events.next();
  const raw = beginStream(exchange);
  try {
    if (!first.done) await send(raw, first.value);
    for await (const event of events) await send(raw, event);
    raw.end();
  } catch {
    raw.destroy();
  } finally {
    await events.return();
  }
}

/** With nothing to tell it is no event, and its `id` is kept all the same. */
const toPieces = memoize(({ cursor, item, isCaughtUp }: FeedEvent): readonly Buffer[] => {
  if (isCaughtUp === true) return [Buffer.from(`id: ${cursor}\nevent: ${CAUGHT_UP}\ndata: {}\n\n`)];
  if (!item) return [Buffer.from(`: \nid: ${cursor}\n\n`)];
  const head = Buffer.from(`id: ${cursor}\nevent: ${item.type}\ndata: `);
  return [head, ...piecesOf(item), Buffer.from('\n\n')];
});

/** In one go, without a copy of what others are sent, too. */
async function write(
  raw: ServerResponse,
  pieces: readonly Buffer[],
  signal: AbortSignal,
): Promise<void> {
  raw.cork();
  const isRead = pieces.map((piece) => raw.write(piece)).every(Boolean);
  raw.uncork();
  if (isRead || signal.aborted) return;
  await once(raw, 'drain', {
    signal: AbortSignal.any([signal, AbortSignal.timeout(READ_WITHIN_MS)]),
  });
}
