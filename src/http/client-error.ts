import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { NewId } from '#shared/ids.ts';
import { errorFields } from '#shared/log.ts';
import type { Log } from '#shared/log.ts';
import { fromParserError, uriTooLong } from './framework-errors.ts';
import { URI_BYTES_MAX } from './limits.ts';
import { renderProblem } from './problem.ts';
import type { RenderedProblem } from './problem.ts';

export type ClientErrorDeps = { publicUrl: () => string; newId: NewId; log: Log };

/** A socket on which Node may have a response under way (an undocumented field of Node's). */
type ServerSocket = Duplex & { _httpMessage?: { headersSent?: boolean } | null };

/**
 * Answers what never became a request (broken HTTP, too large headers, too slow) with a whole
 * problem document, then closes the connection.
 * @see https://nodejs.org/api/http.html#event-clienterror
 */
export function createClientErrorHandler(deps: ClientErrorDeps) {
  return (error: Error, socket: Duplex): void => {
    if (!mayBeAnswered(error, socket)) {
      socket.destroy();
      return;
    }
    const requestId = deps.newId();
    const refusal = isLongUri(error) ? uriTooLong() : fromParserError(error);
    const problem = renderProblem({ publicUrl: deps.publicUrl(), requestId }, refusal);
    socket.end(wireOf(problem, requestId), () => socket.destroy());
    deps.log.info(
      { requestId, status: problem.status, code: refusal.code, ...errorFields(error) },
      'request refused',
    );
  };
}

function mayBeAnswered(error: Error, socket: ServerSocket): boolean {
  const isReset = (error as { code?: unknown }).code === 'ECONNRESET';
  return !isReset && socket.writable && socket._httpMessage?.headersSent !== true;
}

/** Node has one error for a long request line and long headers: tell them apart by the bytes. */
function isLongUri(error: Error): boolean {
  const { code, rawPacket } = error as { code?: unknown; rawPacket?: unknown };
  if (code !== 'HPE_HEADER_OVERFLOW' || !Buffer.isBuffer(rawPacket)) return false;
  const isStart = /^[A-Z]+ \//.test(rawPacket.toString('latin1', 0, 32));
  return isStart && !rawPacket.subarray(0, URI_BYTES_MAX).includes('\n');
}

function wireOf(problem: RenderedProblem, requestId: string): Buffer {
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
