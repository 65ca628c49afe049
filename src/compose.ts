/**
 * The composition root. What is acquired is given back by `stop`, last first, also when the start
 * fails half-way.
 */
import { createCleanupStack, type CleanupStack } from '#shared/resilience/cleanup-stack.ts';
import type { Tracing } from '#shared/tracing.ts';

import { storeError } from './compose/server/start-error.ts';
import type { Service, ServiceDeps } from './compose/service.ts';
import { openStore } from './compose/store.ts';

/** Starts the whole service. @throws {StartError} in one line, with what to do */
export async function startService(deps: ServiceDeps): Promise<Service> {
  const cleanup = createCleanupStack();
  try {
    return await start(deps, cleanup);
  } catch (error) {
    await cleanup.releaseAll().catch(() => undefined);
    throw storeError(error, deps.config.store.url);
  }
}

async function start(deps: ServiceDeps, cleanup: CleanupStack): Promise<Service> {
  const tracing = await openTracing(deps, cleanup); // given back last: it tells of the stop
  await lockStore(deps, cleanup);
  const store = await openStore({ ...deps, thread: deps.thread ?? {} });
  cleanup.push('the store', () => store.close());
  // The thread that writes opens its file while the code of all the rest is loaded.
  const { serve } = await import('./compose/service.ts');
  return serve(deps, { store, tracing }, cleanup);
}

/** A SQLite store has one service at a time. */
async function lockStore(deps: ServiceDeps, cleanup: CleanupStack): Promise<void> {
  const { url } = deps.config.store;
  if (url.engine !== 'sqlite') return;
  const { lockSqliteStore } = await import('./compose/stores/sqlite.ts');
  const lock = await lockSqliteStore(url.path, deps);
  cleanup.push('the lock of the store', () => lock.release());
}

/** Undefined where traces are off: then no package of OpenTelemetry's SDK is loaded. */
async function openTracing(
  { tracing: { settings, unsupported } = {}, clock, log }: ServiceDeps,
  cleanup: CleanupStack,
): Promise<Tracing | undefined> {
  if (unsupported !== undefined)
    log.warn({ variable: unsupported }, 'traces are off: the value is not supported');
  if (!settings) return undefined;
  const { createTracing } = await import('./compose/telemetry/tracing.ts');
  const tracing = createTracing({ settings, clock, log });
  cleanup.push('the traces', () => tracing.close());
  return tracing;
}
