import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller, CatalogDeps, VersionView } from '#catalog/catalog.ts';
import type { Idempotency, KeptAnswer } from '#catalog/idempotency.ts';
import { actorOf, tokenOf, type AuthorizeBearer } from './bearer.ts';

export type CatalogRoutesDeps = {
  catalog: CatalogDeps;
  idempotency: Idempotency;
  authorize: AuthorizeBearer;
};

/** On whose behalf the use cases work: the workspace is the token's. */
export function callerOf(request: FastifyRequest): Caller {
  const token = tokenOf(request);
  return { workspaceId: token.workspaceId, actor: actorOf(token), requestId: request.id };
}

type Work = {
  work: (caller: Caller) => Promise<VersionView>;
  render: (view: VersionView) => KeptAnswer;
};

/** Does the work of a `POST` once per `Idempotency-Key`, and always where there is none. */
export async function answerOnce(
  { idempotency }: CatalogRoutesDeps,
  request: FastifyRequest,
  { work, render }: Work,
): Promise<{ answer: KeptAnswer; replayed: boolean }> {
  const caller = callerOf(request);
  const key = request.headers['idempotency-key'];
  if (typeof key !== 'string') return { answer: render(await work(caller)), replayed: false };
  const { workspaceId, subject, clientId = '' } = tokenOf(request);
  const call = {
    workspaceId,
    principal: JSON.stringify([subject, clientId]),
    route: `${request.method} ${request.url.split('?', 1)[0] ?? ''}`,
    key,
    payload: [request.query, request.headers['if-match'], request.body],
  };
  return idempotency.once(call, { work: (keep) => work({ ...caller, keep }), render });
}

/** Sends an answer that is rendered already. */
export function sendAnswer(
  reply: FastifyReply,
  { answer, replayed = false }: { answer: KeptAnswer; replayed?: boolean },
): FastifyReply {
  if (replayed) reply.header('idempotent-replayed', 'true');
  return reply.code(answer.status).headers(answer.headers).send(answer.body);
}
