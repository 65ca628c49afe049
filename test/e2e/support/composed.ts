import path from 'node:path';
import { loadConfig } from '#config/load.ts';
import { newUuid } from '#shared/ids.ts';
import type { Log } from '#shared/log.ts';
import { onTestFinished } from 'vitest';
import { type Service, startService } from '#compose/service.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { withoutRelief } from '../../support/http/app.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { writeMigratedStore } from '../../support/migrated-store.ts';

export const TRACKER_TOKEN = 'composed-tracker-token';
export const WEBHOOK_SECRET = 'composed-webhook-secret';

/** The whole service in this process, on a clock that tests move. */
export type Composed = {
  service: Service;
  url: string;
  /** Of a consumer that may read every lead. */
  key: string;
  clock: FakeClock;
  /** The SQLite file. */
  storePath: string;
  /** GET with the key. */
  get: (target: string) => Promise<Response>;
  /** Every line logged so far, the debug ones too, as JSON. */
  logText: () => string;
};

export type ComposedOptions = {
  /** Root of the tracker's API. */
  apiUrl: string;
  repository?: string;
  clock?: FakeClock;
  /** Real time that a call to the tracker may take; default one minute, for machines that are busy. */
  requestTimeout?: string;
  /** Sections of the configuration file. */
  settings?: Record<string, unknown>;
  /** See `disturb-writer.ts`; default as in production. */
  writerModule?: URL;
};

/** Composes the service as the program does, on a port of its own. */
export async function compose(options: ComposedOptions): Promise<Composed> {
  const { apiUrl, repository = 'acme/leads', requestTimeout = '1m', settings = {} } = options;
  const { writerModule } = options;
  const clock = options.clock ?? createFakeClock();
  const storePath = writeMigratedStore(path.join(temporaryFolder(), 'trackport.db'));
  const config = loadConfig({
    environment: {},
    port: '0',
    settings: {
      store: { url: `sqlite:${storePath}` },
      tracker: {
        repository,
        apiUrl,
        auth: { token: TRACKER_TOKEN },
        webhookSecrets: [WEBHOOK_SECRET],
        requestTimeout,
      },
      leads: { freshFor: '15s' },
      ...settings,
    },
  });
  const { log, logText } = createLogBook();
  const limits = withoutRelief;
  const service = await startService({ config, clock, log, limits, writerModule });
  onTestFinished(() => stopService(service, clock));
  const { issued } = await service.access.consumers.create(
    { name: `sales ${newUuid()}`, grants: [{ action: 'leads:read' }] },
    { actor: { kind: 'system', subject: 'test' } },
  );
  const key = issued.key.reveal();
  const get = (target: string) =>
    fetch(`${service.url}${target}`, { headers: { 'x-api-key': key } });
  return { service, url: service.url, key, clock, storePath, get, logText };
}

function createLogBook(): { log: Log; logText: () => string } {
  const lines: string[] = [];
  const write =
    (level: string): Log['info'] =>
    (fields, msg) =>
      void lines.push(JSON.stringify({ level, ...fields, msg }));
  return {
    log: {
      isDebug: () => true,
      debug: write('debug'),
      info: write('info'),
      warn: write('warn'),
      error: write('error'),
    },
    logText: () => lines.join('\n'),
  };
}

/** A stop waits on the clock, which stands still unless it is moved. */
async function stopService(service: Service, clock: FakeClock): Promise<void> {
  const stopped = service.stop().then(() => true);
  for (let isStopped = false; !isStopped;)
    isStopped = await Promise.race([stopped, clock.advance(20).then(() => false)]);
}
