import type { BearerUseCases } from '#http/context.ts';
import type { HealthCheck, PartReport } from '#http/routes/operations.ts';
import type { WorkerStatus } from '#partners/worker/worker.ts';
import { toRfc3339 } from '#shared/clock.ts';
import type { App } from './app.ts';
import type { Store } from './store.ts';
import type { Tracker } from './tracker.ts';

/**
 * All that concern the configuration in force, for one response of `/readyz`. Only the store takes the instance out of
 * service: the others report how they are, which is for people to read.
 */
export function healthChecks({
  store,
  tracker,
  partners,
  partnerRegistry,
  bearer,
}: App): Record<string, HealthCheck> {
  const status = partners.workerStatus(); // one read for two checks: it counts what is open
  return {
    store: storeCheck(store),
    tracker: trackerCheck(tracker),
    worker: workerCheck(status),
    ...(partnerRegistry.partnerIds().length > 0 && { directory: directoryCheck(status) }),
    ...(bearer && { issuer: issuerCheck(bearer) }),
  };
}

/** A store that cannot be read, or takes no deliveries, takes the instance out of service. */
function storeCheck(store: Store): HealthCheck {
  return async () => {
    await store.checkReading();
    await store.writes.check();
    return { state: 'ok' };
  };
}

/** For people to read: reads go on from the cache while the tracker is away. */
function trackerCheck(tracker: Tracker): HealthCheck {
  const conditionCheck = trackerConditionCheck(tracker);
  return () => {
    const result = conditionCheck();
    const details = [result.detail, tracker.versionNotice()].filter((text) => text !== undefined);
    return { ...result, ...(details.length > 0 && { detail: details.join(' ') }) };
  };
}

function trackerConditionCheck(tracker: Tracker): () => PartReport {
  return () => {
    const quota = tracker.leadTracker.quota();
    const left =
      quota && `${quota.remaining} of ${quota.limit} calls left until ${toRfc3339(quota.resetAt)}.`;
    if (quota?.remaining === 0) return { state: 'exhausted', detail: `${left}` };
    const condition = tracker.condition();
    if (condition.state === 'failing') {
      const { cause, since } = condition;
      const detail = `Calls have failed since ${toRfc3339(since)}. Last cause: ${cause}.`;
      return { state: 'failing', detail };
    }
    const detail = condition.state === 'ok' ? left : 'No call has succeeded yet.';
    return { state: condition.state, detail };
  };
}

/**
 * Shows a worker that is paused, gets nothing done, lacks a partner (also where another instance works) or
 * stands by; takes nothing out of service.
 */
export function workerCheck(reading: Promise<WorkerStatus>): HealthCheck {
  return async () => {
    const status = await reading;
    const { state, lackedPartners } = status;
    const isWell = state === 'running' || state === 'standby';
    if (isWell && lackedPartners.length > 0) return { state: 'lacking', detail: LACKING };
    const detail = detailOf(status);
    return { state: state === 'running' ? 'ok' : state, detail };
  };
}

const LACKING = 'Events wait: the configuration of the instance that works lacks their partner.';

function detailOf({ state, reason, pausedSince, failure }: WorkerStatus): string | undefined {
  if (state === 'standby') return 'Another instance works on this store.';
  if (failure)
    return `Nothing gets done since ${toRfc3339(failure.since)}. Last cause: ${failure.code}.`;
  if (reason === undefined) return undefined;
  const since = pausedSince === undefined ? '' : ` Paused since ${toRfc3339(pausedSince)}.`;
  return `The tracker does not let us write: ${reason}.${since}`;
}

/** Shows how far the lead directory is filled. */
function directoryCheck(reading: Promise<WorkerStatus>): HealthCheck {
  return async () => {
    const { directory } = await reading;
    const { state, issues, lastError } = directory;
    const lastFailure = lastError === undefined ? '' : ` Last failure: ${lastError}.`;
    return { state, detail: `${issues} issues seen.${lastFailure}` };
  };
}

/** For people to read: most of the service needs no issuer. */
function issuerCheck({ verifier }: BearerUseCases): HealthCheck {
  return () => {
    const { state, keys, failure } = verifier.status();
    const known = keys === 1 ? '1 key known.' : `${keys} keys known.`;
    if (state === 'unknown') return { state, detail: 'Not asked in the last 24 hours.' };
    const lastFailure = failure === undefined ? '' : ` Last failure: ${failure}`;
    return { state, detail: `${known}${lastFailure}` };
  };
}
