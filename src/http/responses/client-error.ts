import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { TrackportError } from '#shared/errors.ts';
import type { NewId } from '#shared/ids.ts';
import { errorFields, type Log } from '#shared/log.ts';
import {
  fromParserError,
  type ProblemPage,
  renderEarlyProblem,
  type RenderedProblem,
  uriTooLong,
} from './problem.ts';
import { URI_BYTES_MAX } from '../limits.ts';
import type { RefusalLog } from '../telemetry/requests.ts';

/**
 * The request of a connection that had its response before its whole body had come. What then goes wrong with the
 * rest gets no second response: a client would take it for that of its next request.
 */
export type AnsweredEarly = WeakMap<Duplex, IncomingMessage>;

/** Responds on connections whose request never reached the framework. */
export type EarlyResponder = {
  publicUrl: () => string;
  newId: NewId;
  log: Log;
  refusalLog: RefusalLog;
  answeredEarly: AnsweredEarly;
  problemPages: ReadonlySet<ProblemPage>;
};

const METHODS_KNOWN = 'DELETE, GET, HEAD, PATCH, POST, PUT';

const NO_TUNNELS = new TrackportError('method-not-allowed', {
  detail: 'This is no proxy: it opens no tunnels.',
});

/** A socket on which Node may have a response under way (an undocumented field of Node's). */
type ServerSocket = Duplex & { _httpMessage?: { headersSent?: boolean } | null };

/**
 * Responds to what never became a request (broken HTTP, too large headers, too slow) with a whole
 * problem document, then closes the connection.
 * @see https://nodejs.org/api/http.html#event-clienterror
 */
export function createClientErrorHandler(responder: EarlyResponder) {
  return (error: Error, socket: Duplex): void => {
    if (!canRespond(error, socket) || responder.answeredEarly.get(socket)?.complete === false) {
      socket.destroy();
      return;
    }
    const refusal = isLongUri(error) ? uriTooLong() : fromParserError(error);
    endWith(responder, socket, { refusal, target: targetOf(error) });
  };
}

/**
 * Responds to `CONNECT`, which Node passes on as a bare socket, with 405 and closes the connection.
 * @see RFC 9110 section 9.3.6
 */
export function createConnectHandler(responder: EarlyResponder) {
  return (_request: unknown, socket: ServerSocket): void => {
    socket.on('error', () => socket.destroy());
    // A response that is still due to an earlier request comes first or not at all.
    if (socket._httpMessage) socket.destroy();
    else endWith(responder, socket, { refusal: NO_TUNNELS, headers: { allow: METHODS_KNOWN } });
  };
}

type Refused = {
  refusal: TrackportError;
  headers?: Readonly<Record<string, string>>;
  target?: string;
};

function endWith(
  { publicUrl, newId, log, refusalLog, problemPages }: EarlyResponder,
  socket: Duplex,
  { refusal, headers = {}, target }: Refused,
): void {
  const requestId = newId();
  const context = { publicUrl: publicUrl(), requestId };
  const problem = renderEarlyProblem(problemPages, context, { target, error: refusal });
  const response = { ...problem, headers: { ...problem.headers, ...headers } };
  socket.end(toWire(response, requestId), () => socket.destroy());
  if (!refusalLog.take(refusal.code)) return;
  const { status } = problem;
  const reason = refusal.cause === undefined ? {} : errorFields(refusal.cause);
  log.info({ requestId, status, code: refusal.code, ...reason }, 'request refused');
}

function canRespond(error: Error, socket: ServerSocket): boolean {
  const isReset = (error as { code?: unknown }).code === 'ECONNRESET';
  return !isReset && socket.writable && socket._httpMessage?.headersSent !== true;
}

const REQUEST_LINE = /^GET (\/[\x21-\x7e]{0,2000})/;

/** The start of what was asked for, where the bytes at hand begin with it: of a person, always by GET. */
function targetOf(error: Error): string | undefined {
  const { rawPacket } = error as { rawPacket?: unknown };
  if (!Buffer.isBuffer(rawPacket)) return undefined;
  return REQUEST_LINE.exec(rawPacket.toString('latin1', 0, 2048))?.[1];
}

/** Node has one error for a long request line and long headers: they differ by the bytes. */
function isLongUri(error: Error): boolean {
  const { code, rawPacket } = error as { code?: unknown; rawPacket?: unknown };
  if (code !== 'HPE_HEADER_OVERFLOW' || !Buffer.isBuffer(rawPacket)) return false;
  const isStart = /^[A-Z]+ \//.test(rawPacket.toString('latin1', 0, 32));
  return isStart && !rawPacket.subarray(0, URI_BYTES_MAX).includes('\n');
}

function toWire(problem: RenderedProblem, requestId: string): Buffer {
  const lines = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ''}`,
    ...Object.entries(problem.headers).map(([name, value]) => `${name}: ${value}`),
    `x-request-id: ${requestId}`,
    'x-content-type-options: nosniff',
    `content-length: ${problem.body.length}`,
    'connection: close',
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), problem.body]);
}
