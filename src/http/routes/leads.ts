import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import {
  bytesOfList,
  leadListOut,
  leadOut,
  renderLead,
  renderLeadList,
} from '#leads/model/lead-out.ts';
import type { CacheStatus, LeadResponse } from '#leads/reading/lead-reader.ts';
import { LABEL_CHARACTERS_MAX, LABELS_MAX } from '#access/grant.ts';
import { isLongerThan } from '#shared/text/visible.ts';
import type { LeadListQuery } from '#leads/model/lead-query.ts';
import { splitLabels } from '#shared/text/labels.ts';
import type { AreaContext, HttpApp } from '../context.ts';
import { admitLeadReaders, visibilityOf } from '../auth/key-access.ts';
import { cacheStatus, nextLink, REVALIDATED } from '../responses/headers.ts';
import { renderOnce, sendRendered } from '../responses/rendered-response.ts';
import { describeRoute } from '../route.ts';
import { createReadMetrics } from '../telemetry/requests.ts';
import { leadParams, pageParameters, sinceParameter } from '../requests/parameters.ts';

const labelQuery = z.preprocess(
  (value) => (typeof value === 'string' ? [value] : value),
  z
    .array(z.string().meta({ maxLength: LABELS_MAX * (LABEL_CHARACTERS_MAX + 1) }))
    .max(LABELS_MAX, `must name at most ${LABELS_MAX} labels`)
    .superRefine((values, context) => {
      const names = values.flatMap((text) => text.split(',')).map((name) => name.trim());
      if (names.includes(''))
        context.addIssue({ code: 'custom', message: 'must not name an empty label' });
      if (names.some((name) => isLongerThan(name, LABEL_CHARACTERS_MAX)))
        context.addIssue({
          code: 'custom',
          message: `must name no label of more than ${LABEL_CHARACTERS_MAX} characters`,
          params: { code: 'out-of-range' },
        });
    })
    .transform(splitLabels)
    .refine((labels) => labels.length <= LABELS_MAX, `must name at most ${LABELS_MAX} labels`)
    .meta({
      description:
        'A label name, in any case. Repeated or comma-separated, a lead must carry all of them.',
    }),
);

const leadListParameters = z.strictObject({
  ...pageParameters,
  since: sinceParameter.optional().meta({
    description:
      'Only leads updated at or after this instant, longest unchanged first. An RFC 3339 date-time with a zone, or a date in UTC.',
  }),
  state: z
    .enum(['open', 'closed', 'all'], 'must be one of `open`, `closed`, `all`')
    .optional()
    .meta({
      default: 'open',
      description: 'Ask for `all` with `since`, else a lead that closes goes unseen.',
    }),
  label: labelQuery.optional(),
});

const leadListQuery = leadListParameters.transform(({ label, ...query }): LeadListQuery => ({
  ...query,
  labels: label ?? [],
}));

/** Reading leads with a key: `GET` and `HEAD` of the list, and of one lead. */
export function leadRoutes(app: HttpApp, context: AreaContext): void {
  const renderList = renderOnce(renderLeadList);
  const renderOne = renderOnce(renderLead);
  const { publicUrl, leads, backlog } = context;
  const count = createReadMetrics(context.metrics);
  admitLeadReaders(app, context);
  /** Reads again behind a wait for room: a lead may have been claimed meanwhile. */
  const sendRead = <T, Sent>(
    request: FastifyRequest,
    read: () => Promise<LeadResponse<T>>,
    { bytesOf, send }: { bytesOf: (value: T) => number; send: (found: LeadResponse<T>) => Sent },
  ): Promise<Sent> =>
    read().then((found) => {
      count(found.cache.outcome);
      return backlog.send(request, bytesOf(found.value), (hasWaited) =>
        hasWaited ? read().then(send) : send(found),
      );
    });
  app.get('/api/v1/leads', listRoute, (request, reply) =>
    sendRead(request, () => leads.reader.list(request.query, visibilityOf(request)), {
      bytesOf: bytesOfList,
      send: ({ value, cache }) => {
        const headers = headersOf(cache);
        const { nextCursor } = value.pagination;
        if (nextCursor !== undefined) headers['link'] = nextLink(request, nextCursor, publicUrl());
        return sendRendered({ request, reply }, renderList(value), headers);
      },
    }),
  );
  app.get('/api/v1/leads/:leadId', detailRoute, (request, reply) =>
    sendRead(request, () => leads.reader.read(request.params.leadId, visibilityOf(request)), {
      bytesOf: (lead) => renderOne(lead).bytes.length,
      send: ({ value, cache }) =>
        sendRendered({ request, reply }, renderOne(value), headersOf(cache)),
    }),
  );
}

function headersOf(cache: CacheStatus): Record<string, string> {
  return {
    age: String(Math.max(0, Math.floor(cache.ageMs / 1000))),
    'cache-status': cacheStatus(cache),
  };
}

const leadProblems = ['insufficient-scope', 'tracker-failed', 'tracker-unavailable'] as const;
/** A response is stored for one key at most, and revalidated at every use. */
const sends = { 'Cache-Control': REVALIDATED, Vary: 'X-API-KEY' };
const leadHeaders = ['ETag', 'Age', 'Cache-Status'] as const;

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
  sends,
  headers: [...leadHeaders, 'Link'],
  problems: ['invalid-cursor', ...leadProblems],
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
  sends,
  headers: leadHeaders,
  problems: ['lead-not-found', ...leadProblems],
});
