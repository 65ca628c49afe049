import type { FastifyRequest } from 'fastify';
import type { Catalog } from '#catalog/index.ts';
import type { ReadSpecBody } from '#catalog/spec/spec-body.ts';
import type { Caller } from '#catalog/version/version-view.ts';
import type { Idempotency } from '#shared/idempotency.ts';
import { actorOf, tokenOf } from '../../auth/bearer.ts';
import { hangUpOf } from '../../requests/hang-up.ts';
import type { CatalogAccessDeps } from '../../auth/catalog-access.ts';

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
