import { existsSync } from 'node:fs';

import type { Config } from '#config/schema/schema.ts';
import { secretKeyPath } from '#config/secret-key.ts';
import { directoryChecks } from '#leads/directory/lead-directory.ts';
import type { TrafficCount } from '#partners/traffic/traffic-store.ts';
import type { Clock } from '#shared/clock.ts';
import { isTrackportError } from '#shared/errors.ts';
import { silentLog } from '#shared/log.ts';

import { StartError } from '../server/start-error.ts';
import { checkServer } from './check-server.ts';
import { directoryKeyOf, openStore } from '../store.ts';
import type { Store } from '../store.ts';
import { failed, ok } from '#shared/finding.ts';
import type { Finding } from '#shared/finding.ts';

export type StoreReport = {
  findings: Finding[];
  /** Deliveries of the last 30 days; none when the store cannot be read. */
  traffic: readonly TrafficCount[];
};

/** Whether the store can be read and written, and was filled with the key that is configured. */
export async function checkStore({
  config,
  clock,
}: {
  config: Config;
  clock: Clock;
}): Promise<StoreReport> {
  const unreadable = (finding: Finding): StoreReport => ({ findings: [finding], traffic: [] });
  try {
    const store = await openStore({ config, clock, log: silentLog });
    try {
      await store.checkWriting();
      const detail = `Can be read and written.${secretKeyRemark(config)}`;
      const findings = [
        ok('store', detail),
        ...(await checkServer(store, clock)),
        ...(await checkSecretKey(config, store)),
      ];
      return { findings, traffic: await store.stores.traffic().readSince(0) };
    } finally {
      await store.close();
    }
  } catch (error) {
    const what = config.store.url.engine === 'sqlite' ? 'file' : 'database';
    const fix = `Mend that, or name another ${what} in store.url.`;
    if (error instanceof StartError) return unreadable(failed('store', error.message, fix));
    if (!isTrackportError(error)) throw error;
    return unreadable(failed('store', error.detail ?? error.code, fix));
  }
}

function secretKeyRemark({ secretKey, store }: Config): string {
  if (secretKey || store.url.engine !== 'sqlite') return '';
  const path = secretKeyPath(store.url.path);
  if (!existsSync(path)) return '';
  return ` Back up ${path} with it: losing the key costs cursors, sessions, events that wait, and a new crawl.`;
}

async function checkSecretKey(config: Config, store: Store): Promise<Finding[]> {
  const stored = await store.stores.directory().checks();
  const { key } = directoryChecks(config.leads, directoryKeyOf(store));
  if (!stored || stored.key.equals(key)) return [];
  return [
    failed(
      'secret key',
      'The store was filled with another: events that wait cannot be read, cursors end, and the lead directory is crawled anew.',
      'Bring back the former secretKey; if it is lost, ask partners to send again what is pending.',
    ),
  ];
}
