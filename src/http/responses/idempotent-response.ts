import type { FastifyReply } from 'fastify';
import type {
  Idempotency,
  IdempotentWork,
  KeyedCall,
  StoredResponse,
} from '#shared/idempotency.ts';
import { tokenOf } from '../auth/bearer.ts';
import type { Exchange } from '../context.ts';
import { routedPath } from '../requests/paths.ts';

/** The work of one request, which stores its response under `call`; without an `Idempotency-Key` nothing is stored. */
export type RequestWork<View> = Pick<IdempotentWork<View>, 'render'> & {
  work: (call?: KeyedCall) => Promise<View>;
};

/**
 * Does the work of a `POST` once per `Idempotency-Key` and principal, and always where there is no
 * such header, and sends its response.
 * @throws {idempotency-in-progress} @throws {idempotency-mismatch}
 */
export async function respondOnce<View>(
  idempotency: Idempotency,
  { request, reply }: Exchange,
  { work, render }: RequestWork<View>,
): Promise<FastifyReply> {
  const key = request.headers['idempotency-key'];
  if (typeof key !== 'string') return sendResponse(reply, render(await work()));
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
    render,
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
