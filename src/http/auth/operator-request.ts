import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '#shared/audit.ts';
import type { Pagination } from '#shared/page.ts';
import { actorOf, tokenOf, withScope } from './bearer.ts';
import { nextLink } from '../responses/next-link.ts';

/** Who asks for a change, for the audit log. */
export function originOf(request: FastifyRequest): { actor: Actor; requestId: string } {
  return { actor: actorOf(tokenOf(request)), requestId: request.id };
}

/** The options of a route for operators. */
export function forOperators<T extends { config: object; schema: object }>(route: T) {
  return withScope('trackport:admin', route);
}

/** Nobody may keep an answer for operators: some hold a key. */
export const uncached = { 'cache-control': 'no-store' } as const;

/** Adds the `Link` to the next page when there is one. */
export function linkNext(
  request: FastifyRequest,
  reply: FastifyReply,
  { pagination, publicUrl }: { pagination: Pagination; publicUrl: string },
): void {
  if (pagination.nextCursor === undefined) return;
  reply.header('link', nextLink(request, pagination.nextCursor, publicUrl));
}
