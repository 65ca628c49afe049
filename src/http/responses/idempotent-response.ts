import type { FastifyReply } from 'fastify';
import type { Idempotency, KeyedCall, StoredResponse } from '#shared/idempotency.ts';
import { tokenOf } from '../auth/bearer.ts';
import type { Exchange } from '../context.ts';
import { routedPath } from '../requests/paths.ts';

/**
 * Does the work of a `POST` once per `Idempotency-Key` and principal, and always where there is no
 * such header, and sends its response, which `work` stores under `call`.
 * @throws {idempotency-in-progress} @throws {idempotency-mismatch}
 */
export async function respondOnce(
  idempotency: Idempotency,
  { request, reply }: Exchange,
  work: (call?: KeyedCall) => Promise<StoredResponse>,
): Promise<FastifyReply> {
  const key = request.headers['idempotency-key'];
  if (typeof key !== 'string') return sendResponse(reply, await work());
  const { workspaceId, subject, clientId = '' } = tokenOf(request);
  const keyed = {
    workspaceId,
    principal: JSON.stringify([subject, clientId]),
    route: `${request.method} ${routedPath(request.url)}`,
    key,
    payload: [
      request.query,
      request.headers['if-match'],
      request.body,
      ...(request.spec ? [request.spec.digest] : []),
    ],
  };
  const { response, isReplayed } = await idempotency.respond(keyed, {
    work,
    isStoredByWork: true,
  });
  if (isReplayed) reply.header('idempotent-replayed', 'true');
  return sendResponse(reply, response);
}

/** Sends a response that is rendered already. */
export function sendResponse(
  reply: FastifyReply,
  { status, headers, body }: StoredResponse,
): FastifyReply {
  return reply.code(status).headers(headers).send(body);
}
