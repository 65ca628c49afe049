import { Registry } from 'prom-client';
import { createPublicServer, type ServerOptions } from '#http/server.ts';
import {
  createServiceReports,
  type ReportSources,
  type ServiceReports,
} from '#http/routes/operations.ts';
import type { Area, HttpApp, UseCases } from '#http/context.ts';
import { systemClock } from '#shared/clock.ts';
import { newUuid } from '#shared/ids.ts';
import { silentLog } from '#shared/log.ts';
import { unservedUseCases } from '#compose/openapi.ts';

export const PUBLIC_URL = 'https://adapter.example.com';

/** A machine that is busy with other things as well is no reason to turn a test's request away. */
export const withoutRelief = { lagMsMax: 0 };

/** The things of every server, with those that a test brings in their place. */
export function serverDeps(deps: Partial<ServerOptions> = {}): ServerOptions {
  const clock = deps.clock ?? systemClock;
  return {
    clock,
    newId: newUuid,
    log: silentLog,
    metrics: new Registry(),
    publicUrl: () => PUBLIC_URL,
    refusedPerMinute: 300,
    ...deps,
    limits: { ...withoutRelief, ...deps.limits },
  };
}

/** Sources of health and metrics, with those that a test brings in their place. */
export function serviceReports(sources: Partial<ReportSources> = {}): ServiceReports {
  return createServiceReports({
    metrics: new Registry(),
    checks: () => ({}),
    isStopping: () => false,
    clock: systemClock,
    log: silentLog,
    ...sources,
  });
}

/** The things that a test brings, of services no more than it has requests for. */
export type TestAppSetup = Partial<ServerOptions> & {
  portal?: Area;
  operations?: ServiceReports;
} & {
  [Name in keyof UseCases]?: Partial<UseCases[Name]>;
};

/** The tracker's webhook where its deliveries do not matter. */
export const ignoringWebhook: TestAppSetup['trackerWebhook'] = {
  verify: async () => ({ kind: 'ignored' }),
  onTrackerEvent: () => undefined,
  onRefused: () => undefined,
  settled: async () => undefined,
};

/** The public server with nothing that works in it but what a test brings. Close it when done. */
export function buildTestApp(deps: TestAppSetup = {}): HttpApp {
  const services = { ...unservedUseCases(), bearer: undefined, ...deps } as UseCases;
  return createPublicServer(serverDeps(deps), services, deps);
}
