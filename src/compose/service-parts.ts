import { createAccess } from '#access/index.ts';
import { createBodyReaders } from '#adapters/threads/body-readers.ts';
import { createThread } from '#adapters/threads/thread.ts';
import { createHearing } from '#partners/silence.ts';
import { createTraffic } from '#partners/traffic.ts';
import { newUuid } from '#shared/ids.ts';
import { entryUrl } from '#shared/program.ts';
import type * as bodyFunctions from './body-functions.ts';
import { composeLeads, followOthers } from './leads.ts';
import { composePartners } from './partners.ts';
import type { BaseParts, BearerParts, ServiceParts } from './parts.ts';
import { traceTrackerCalls, trackerCallMetrics } from './telemetry/metrics.ts';
import { createTrackerParts } from './tracker/parts.ts';

/** Makes all that works, whoever serves it. `cut` ends calls to the tracker, for a stop that can wait no longer. */
export async function createServiceParts(base: BaseParts, cut: AbortSignal): Promise<ServiceParts> {
  const { settings, clock, log, registry, tracing, store, cleanup } = base;
  const measure = trackerCallMetrics(registry);
  const onExchange = tracing ? traceTrackerCalls(tracing, measure) : measure;
  const tracker = createTrackerParts({ settings, clock, cut, onExchange, log });
  const areas = composeLeads({ ...base, tracker });
  await followOthers({ ...base, ...areas });
  const bearer = await openBearer(base);
  const { database, cursors } = store;
  const access = createAccess({
    db: database,
    cursors,
    newId: newUuid,
    clock,
    log,
    limitPerMinute: () => settings.current().consumers.limitPerMinute,
  });
  cleanup.push('the times of last use', () => access.close());
  const traffic = createTraffic({ database, clock, log });
  cleanup.push('the record of traffic', () => traffic.close());
  const hearing = createHearing({ database, clock: tracker.clock, log });
  cleanup.push('who was heard of', () => hearing.close());
  const module = entryUrl('compose/body-functions');
  const bodyThread = createThread<typeof bodyFunctions>({ module, clock });
  const bodies = createBodyReaders(bodyThread);
  const made = { ...base, ...areas, tracker, bodies, bodyThread, bearer, access, traffic, hearing };
  return { ...made, partners: composePartners(made) };
}

/** What needs an issuer is loaded where there is one: a fifth of the code. */
async function openBearer(base: BaseParts): Promise<BearerParts | undefined> {
  const { identity } = base.config;
  return identity && (await import('./bearer.ts')).openBearerParts(base, identity);
}
