import type { FastifyRequest } from 'fastify';
import type { Catalog } from '#catalog/index.ts';
import type { ReadSpecBody } from '#catalog/spec/spec-body.ts';
import type { Caller, VersionView } from '#catalog/version/version-view.ts';
import type { IdempotentResponse, Idempotency, StoredResponse } from '#shared/idempotency.ts';
import { actorOf, tokenOf } from '../../auth/bearer.ts';
import { hangUpOf } from '../../requests/hang-up.ts';
import type { CatalogAccessDeps } from '../../auth/catalog-access.ts';
import { respondOnce } from '../../responses/idempotent-response.ts';

export type CatalogRoutesDeps = CatalogAccessDeps & {
  catalog: Catalog;
  readSpecBody: ReadSpecBody;
  idempotency: Idempotency;
};

/** On whose behalf the use cases work: the workspace is the token's. */
export function callerOf(request: FastifyRequest): Caller {
  const token = tokenOf(request);
  const [requestId, signal] = [request.id, hangUpOf(request)];
  return { workspaceId: token.workspaceId, actor: actorOf(token), requestId, signal };
}

type Work = {
  work: (caller: Caller) => Promise<VersionView>;
  render: (view: VersionView) => StoredResponse;
};

/** Does the work of a `POST` once per `Idempotency-Key`, and always where there is none. */
export function respondWithVersionOnce(
  { idempotency }: Pick<CatalogRoutesDeps, 'idempotency'>,
  request: FastifyRequest,
  { work, render }: Work,
): Promise<IdempotentResponse> {
  const caller = callerOf(request);
  return respondOnce<VersionView>(idempotency, request, {
    work: (run) => work({ ...caller, run }),
    render,
  });
}
