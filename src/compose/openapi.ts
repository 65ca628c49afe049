import { Registry } from 'prom-client';

import { createApp } from '#http/app.ts';
import { buildDocument } from '#http/openapi/build-document.ts';
import { renderDocument } from '#http/openapi/document.ts';
import { systemClock } from '#shared/clock.ts';
import { newUuid } from '#shared/ids.ts';
import { silentLog } from '#shared/log.ts';

/**
 * The description of every route as text. No service behind the routes is made: the document is
 * the same for every configuration.
 */
export async function renderOpenApi(): Promise<string> {
  const metrics = new Registry();
  const limiter = { take: notServing };
  const app = createApp({
    clock: systemClock,
    newId: newUuid,
    log: silentLog,
    metrics,
    publicUrl: () => '',
    refusalLimiter: limiter,
    operations: { metrics, checks: () => [], isStopping: () => false },
    leads: { reader: { list: notServing, read: notServing }, access: unserved },
    leadFeed: { access: unserved, leadFeed: unserved, stopping: new AbortController().signal },
    removals: { access: unserved, claimedLeads: unserved },
    trackerWebhook: {
      verify: notServing,
      onTrackerEvent: notServing,
      onRefused: notServing,
      settled: async () => {},
    },
    partners: {
      partners: unserved,
      checkBearer: notServing,
      metrics: { registry: metrics, namesPartners: false, partnerIds: () => [] },
    },
    catalog: {
      catalog: unserved,
      readSpecBody: notServing,
      idempotency: unserved,
      authorize: notServing,
      access: unserved,
    },
    consumers: { access: unserved, idempotency: unserved, authorize: notServing },
    receipts: { receipts: unserved, authorize: notServing },
    audit: { access: unserved, authorize: notServing },
    claims: { claimedLeads: unserved, authorize: notServing },
  });
  try {
    await app.ready();
    return renderDocument(await buildDocument(app.routes));
  } finally {
    await app.close();
  }
}

function notServing(): never {
  throw new Error('this app only describes itself');
}

/** Services of many parts, none of which may be touched. */
const unserved = new Proxy({}, { get: notServing }) as never;
