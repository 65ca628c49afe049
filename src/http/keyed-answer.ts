import type { FastifyReply, FastifyRequest } from 'fastify';
import type {
  GivenAnswer,
  Idempotency,
  IdempotentWork,
  Keep,
  KeptAnswer,
} from '#shared/idempotency.ts';
import { tokenOf } from './bearer.ts';
import { routedPath } from './routed-path.ts';

/** The work of one call; without an `Idempotency-Key` there is no `keep`. */
export type CallWork<View> = Omit<IdempotentWork<View>, 'work'> & {
  work: (keep?: Keep<View>) => Promise<View>;
};

/**
 * Does the work of a `POST` once per `Idempotency-Key` and principal, and always where there is no
 * such header.
 * @throws {idempotency-in-progress} @throws {idempotency-mismatch}
 */
export async function answerOnce<View>(
  idempotency: Idempotency,
  request: FastifyRequest,
  { work, render, ...rest }: CallWork<View>,
): Promise<GivenAnswer> {
  const key = request.headers['idempotency-key'];
  if (typeof key !== 'string') return { answer: render(await work()), replayed: false };
  const { workspaceId, subject, clientId = '' } = tokenOf(request);
  const call = {
    workspaceId,
    principal: JSON.stringify([subject, clientId]),
    route: `${request.method} ${routedPath(request.url)}`,
    key,
    payload: [request.query, request.headers['if-match'], request.body],
  };
  return idempotency.once(call, { work, render, ...rest });
}

/** Sends an answer that is rendered already. */
export function sendAnswer(
  reply: FastifyReply,
  { answer, replayed = false }: { answer: KeptAnswer; replayed?: boolean },
): FastifyReply {
  if (replayed) reply.header('idempotent-replayed', 'true');
  return reply.code(answer.status).headers(answer.headers).send(answer.body);
}
