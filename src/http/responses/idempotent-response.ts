import type { FastifyReply, FastifyRequest } from 'fastify';
import type {
  IdempotentResponse,
  Idempotency,
  IdempotentWork,
  KeyedCall,
  StoredResponse,
} from '#shared/idempotency.ts';
import { tokenOf } from '../auth/bearer.ts';
import { routedPath } from '../requests/routed-path.ts';

/** The work of one request, which stores its response under `call`; without an `Idempotency-Key` nothing is stored. */
export type RequestWork<View> = Pick<IdempotentWork<View>, 'render'> & {
  work: (call?: KeyedCall) => Promise<View>;
};

/**
 * Does the work of a `POST` once per `Idempotency-Key` and principal, and always where there is no
 * such header.
 * @throws {idempotency-in-progress} @throws {idempotency-mismatch}
 */
export async function respondOnce<View>(
  idempotency: Idempotency,
  request: FastifyRequest,
  { work, render }: RequestWork<View>,
): Promise<IdempotentResponse> {
  const key = request.headers['idempotency-key'];
  if (typeof key !== 'string') return { response: render(await work()), isReplayed: false };
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
  return idempotency.once(keyed, { work, render, isStoredByWork: true });
}

/** Sends a response that is rendered already. */
export function sendResponse(
  reply: FastifyReply,
  { response, isReplayed = false }: { response: StoredResponse; isReplayed?: boolean },
): FastifyReply {
  if (isReplayed) reply.header('idempotent-replayed', 'true');
  return reply.code(response.status).headers(response.headers).send(response.body);
}
