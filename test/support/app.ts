import { Registry } from 'prom-client';
import { createLimiter } from '#access/limit.ts';
import { createApp } from '#http/app.ts';
import type { AppDeps } from '#http/app.ts';
import type { HttpApp } from '#http/http-app.ts';
import { newUuid } from '#shared/ids.ts';
import { silentLog } from '#shared/log.ts';
import { systemClock } from '#shared/clock.ts';

export const PUBLIC_URL = 'https://adapter.example.com';

/** The public server with nothing in it but what a test brings. Close it when done. */
export function buildTestApp(deps: Partial<AppDeps> = {}): HttpApp {
  const clock = deps.clock ?? systemClock;
  return createApp({
    clock,
    newId: newUuid,
    log: silentLog,
    metrics: new Registry(),
    publicUrl: () => PUBLIC_URL,
    refusalLimiter: createLimiter({ clock, limitPerMinute: 300 }),
    ...deps,
  });
}
