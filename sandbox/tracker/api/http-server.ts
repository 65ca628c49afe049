import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Clock } from '#shared/clock.ts';
import { closeServer, listenOnLoopback } from '../../loopback.ts';
import type { TrackerResponse } from './response.ts';
import { isCompressed } from './conditional.ts';
import type { TrackerRequest } from './route.ts';

const gzipAsync = promisify(gzip);
const BODY_BYTES_MAX = 10 * 1024 * 1024;

/** End of a request: with a response, without one until the client goes, or with a broken connection. */
export type Exchange =
  | { kind: 'response'; response: TrackerResponse }
  | { kind: 'hang' }
  | { kind: 'reset' };

/** A tracker behind its HTTP server. */
export type ServedTracker = {
  /** The tracker's clock, for the header `Date`. */
  clock: Pick<Clock, 'now'>;
  /** One request of the API. */
  exchange(request: TrackerRequest): Promise<Exchange>;
  /** Pages and controls; undefined when the request is one of the API. */
  respondAside(
    request: TrackerRequest,
  ): Promise<TrackerResponse | undefined> | TrackerResponse | undefined;
};

export type TrackerServer = { port: number; close(): Promise<void> };

/** Listens on 127.0.0.1 only. `port` 0 takes a free one. */
export async function startServer(tracker: ServedTracker, port: number): Promise<TrackerServer> {
  const server = createServer((incoming, outgoing) => {
    serve(tracker, incoming, outgoing).catch(() => {
      if (outgoing.headersSent) outgoing.destroy();
      else outgoing.writeHead(500).end();
    });
  });
  return { port: await listenOnLoopback(server, port), close: () => closeServer(server) };
}

async function serve(
  tracker: ServedTracker,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const request = await readRequest(incoming);
  const aside = isLocalName(incoming.headers.host)
    ? await tracker.respondAside(request)
    : undefined;
  const respond = (response: TrackerResponse): Promise<void> => {
    outgoing.setHeader('date', new Date(tracker.clock.now()).toUTCString());
    return send(request, outgoing, response);
  };
  if (aside) return respond(aside);
  const exchange = await tracker.exchange(request);
  if (exchange.kind === 'response') await respond(exchange.response);
  if (exchange.kind === 'reset') incoming.socket.resetAndDestroy();
}

/** A page of another site must not reach the controls through a name that resolves to loopback. */
function isLocalName(host = ''): boolean {
  return /^(127\.0\.0\.1|localhost)(:\d+)?$/.test(host);
}

async function readRequest(incoming: IncomingMessage): Promise<TrackerRequest> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_BYTES_MAX) throw new Error('the request body is too large');
    chunks.push(chunk);
  }
  const [path = '/', query = ''] = (incoming.url ?? '/').split(/\?(.*)/s, 2);
  return {
    method: incoming.method ?? 'GET',
    path,
    query: new URLSearchParams(query),
    headers: incoming.headers,
    body: Buffer.concat(chunks),
  };
}

async function send(
  request: TrackerRequest,
  outgoing: ServerResponse,
  response: TrackerResponse,
): Promise<void> {
  const { body } = response;
  if (body === undefined) {
    const hasNoLength = response.status === 204 || response.status === 304;
    const length = hasNoLength ? {} : { 'content-length': 0 };
    outgoing.writeHead(response.status, { ...length, ...response.headers }).end();
    return;
  }
  const type = { 'content-type': 'application/json; charset=utf-8' };
  if (!isCompressed(request, body)) {
    const length = { 'content-length': body.length };
    outgoing.writeHead(response.status, { ...type, ...length, ...response.headers }).end(body);
    return;
  }
  const bytes = response.made?.compressed ?? (await gzipAsync(body, { level: 1 }));
  if (response.made) response.made.compressed = bytes;
  const encoding = { 'content-encoding': 'gzip', 'content-length': bytes.length };
  outgoing.writeHead(response.status, { ...type, ...encoding, ...response.headers }).end(bytes);
}
