import { Registry } from 'prom-client';
import { createPublicServer } from '#http/server.ts';
import { buildDocument } from '#http/openapi/build-document.ts';
import { renderDocument } from '#http/openapi/document.ts';
import type { UseCases } from '#http/context.ts';
import { systemClock } from '#shared/clock.ts';
import { newUuid } from '#shared/ids.ts';
import { silentLog } from '#shared/log.ts';

/**
 * The description of every route as text. No service behind the routes is made: the document is
 * the same for every configuration.
 */
export async function renderOpenApi(): Promise<string> {
  const metrics = new Registry();
  const options = {
    clock: systemClock,
    newId: newUuid,
    log: silentLog,
    metrics,
    publicUrl: () => '',
    refusedPerMinute: 0,
  };
  const app = createPublicServer(options, unservedUseCases(), { operations: unserved });
  try {
    await app.ready();
    return renderDocument(buildDocument(app.routes));
  } finally {
    await app.close();
  }
}

/** Use cases of which nothing may be asked. */
export function unservedUseCases(): UseCases {
  return {
    access: unserved,
    leads: unserved,
    claimedLeads: unserved,
    partners: unserved,
    partnerRegistry: { registry: new Registry(), namesPartners: false, partnerIds: () => [] },
    trackerWebhook: {
      verify: notServing,
      onTrackerEvent: notServing,
      onRefused: notServing,
      settled: async () => {},
    },
    ending: new AbortController().signal,
    bearer: {
      verifier: unserved,
      catalog: unserved,
      readSpecBody: notServing,
      idempotency: unserved,
    },
  };
}

function notServing(): never {
  throw new Error('this app only describes itself');
}

/** Stands for a part of it, whatever is asked of that. */
const unserved = new Proxy(notServing, { get: (): unknown => unserved }) as never;
