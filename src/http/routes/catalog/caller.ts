import type { FastifyRequest } from 'fastify';
import type { Catalog } from '#catalog/index.ts';
import type { Caller, VersionView } from '#catalog/version/version-view.ts';
import type { GivenAnswer, Idempotency, KeptAnswer } from '#shared/idempotency.ts';
import { actorOf, tokenOf, type AuthorizeBearer } from '../../bearer.ts';
import { answerOnce } from '../../keyed-answer.ts';

export type CatalogRoutesDeps = {
  catalog: Catalog;
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
export function answerVersionOnce(
  { idempotency }: Pick<CatalogRoutesDeps, 'idempotency'>,
  request: FastifyRequest,
  { work, render }: Work,
): Promise<GivenAnswer> {
  const caller = callerOf(request);
  return answerOnce<VersionView>(idempotency, request, {
    work: (keep) => work({ ...caller, ...(keep && { keep }) }),
    render,
  });
}
