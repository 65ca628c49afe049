import type { FastifyReply, FastifyRequest } from 'fastify';
import type { KeyAuthenticator } from '#access/authenticate-key.ts';
import { decideGrant } from '#access/grant.ts';
import { refuseOverLimit } from '#access/limit.ts';
import type { Limiter } from '#access/limit.ts';
import type { Answer, LeadReader, Visibility } from '#leads/lead-reader.ts';
import { matchesNone } from '../conditional.ts';
import type { Area, HttpContext } from '../http-app.ts';
import { nextLink } from '../next-link.ts';
import { authenticateApiKey } from '../principal.ts';
import { cacheStatus, createRenderer, JSON_MEDIA_TYPE } from '../rendered-answer.ts';
import type { Rendered } from '../rendered-answer.ts';
import { describeRoute, headersOn } from '../schemas/describe-route.ts';
import { leadListOut, leadListQuery, leadOut, leadParams } from '../schemas/lead.ts';

export type LeadRoutesDeps = {
  reader: LeadReader;
  keys: KeyAuthenticator;
  /** One window per consumer. */
  limiter: Limiter;
};

/** Reading leads with a key: `GET` and `HEAD` of the list and of one lead. */
export function leadRoutes(context: HttpContext, deps: LeadRoutesDeps): Area {
  const access = createLeadAccess(context, deps);
  const renderList = createRenderer(leadListOut);
  const renderLead = createRenderer(leadOut);
  return (app) => {
    app.decorateRequest('visibility', undefined);
    app.addHook('onRequest', access);
    app.get('/api/v1/leads', listRoute, async (request, reply) => {
      const { query } = request;
      const answer = await deps.reader.list(query, visibilityOf(request));
      const rendered = renderList(answer.value);
      const { nextCursor } = answer.value.pagination;
      if (nextCursor !== undefined) {
        const link =
          rendered.links.get(query) ?? nextLink(request, nextCursor, context.publicUrl());
        rendered.links.set(query, link);
        reply.header('link', link);
      }
      return sendRendered(request, reply, { rendered, answer });
    });
    app.get('/api/v1/leads/:leadId', detailRoute, async (request, reply) => {
      const answer = await deps.reader.read(request.params.leadId, visibilityOf(request));
      return sendRendered(request, reply, { rendered: renderLead(answer.value), answer });
    });
  };
}

/** Key, grant, then quota; parameters are looked at only after all three. */
export function createLeadAccess(
  { refusals }: HttpContext,
  { keys, limiter }: Pick<LeadRoutesDeps, 'keys' | 'limiter'>,
) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { consumerId, keyId, grants, limitPerMinute } = await authenticateApiKey(
      { keys, refusals },
      request,
    );
    request.logFacts = { consumerId, keyId };
    const { labels } = decideGrant(grants, 'leads:read');
    request.visibility = { consumerId, labels };
    const quota = limiter.take(consumerId, limitPerMinute);
    reply.header('ratelimit-policy', quota.policy).header('ratelimit', quota.state);
    if (quota.isExceeded) refuseOverLimit(quota);
  };
}

/** What the caller may see, as the access hook found it. */
export function visibilityOf(request: FastifyRequest): Visibility {
  if (request.visibility === undefined) throw new Error('the access hook did not run');
  return request.visibility;
}

type Outcome = { rendered: Rendered; answer: Answer<unknown> };

function sendRendered(request: FastifyRequest, reply: FastifyReply, { rendered, answer }: Outcome) {
  const { cache } = answer;
  reply.headers({
    etag: rendered.etag,
    'cache-control': 'private, no-cache',
    vary: 'X-API-KEY',
    age: String(Math.max(0, Math.floor(cache.ageMs / 1000))),
    'cache-status': cacheStatus(cache),
  });
  if (matchesNone(request.headers['if-none-match'], rendered.etag)) return reply.code(304).send();
  return reply.header('content-type', JSON_MEDIA_TYPE).send(rendered.body);
}

const leadProblems = [
  'unauthorized',
  'insufficient-scope',
  'quota-exceeded',
  'tracker-failed',
  'tracker-unavailable',
  'store-unavailable',
] as const;
/** Every answer behind the access hook tells the consumer's limit. */
const limitHeaders = ['RateLimit-Policy', 'RateLimit'] as const;
export const limitOnProblems = headersOn([400, 404, 429, 502, 503], limitHeaders);
const leadHeaders = [
  'ETag',
  'Cache-Control',
  'Vary',
  'Age',
  'Cache-Status',
  ...limitHeaders,
] as const;

const listRoute = describeRoute({
  tag: 'Leads',
  operationId: 'listLeads',
  summary: 'List approved leads',
  description:
    'Newest first; with `since`, longest unchanged first. A page holds exactly `limit` leads unless it is the last.',
  security: 'ApiKey',
  request: { querystring: leadListQuery },
  ok: { 200: { description: 'One page of leads.', schema: leadListOut } },
  notModified: true,
  responseHeaders: {
    200: [...leadHeaders, 'Link'],
    304: [...leadHeaders, 'Link'],
    ...limitOnProblems,
  },
  problems: ['validation-failed', 'invalid-cursor', ...leadProblems],
});

const detailRoute = describeRoute({
  tag: 'Leads',
  operationId: 'readLead',
  summary: 'Read one lead',
  description: 'Whatever is not an approved lead that this key may see is a plain 404.',
  security: 'ApiKey',
  request: { params: leadParams },
  ok: { 200: { description: 'The lead.', schema: leadOut } },
  notModified: true,
  responseHeaders: { 200: leadHeaders, 304: leadHeaders, ...limitOnProblems },
  problems: ['validation-failed', 'lead-not-found', ...leadProblems],
});

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the access hook of the lead routes. */
    visibility: Visibility | undefined;
  }
}
