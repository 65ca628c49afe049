import { existsSync } from 'node:fs';

import { ConfigError } from '#config/problems.ts';
import type { Config } from '#config/schema/schema.ts';
import { secretKeyPath } from '#config/secret-key.ts';
import type { TrafficCount } from '#partners/traffic/traffic-store.ts';
import type { Clock } from '#shared/clock.ts';
import { isTrackportError } from '#shared/errors.ts';
import { silentLog } from '#shared/log.ts';

import { StartError } from '../server/start-error.ts';
import { checkServer } from './check-server.ts';
import { openStore } from '../store.ts';
import { failed, type Finding, ok } from '#shared/finding.ts';

export type StoreReport = {
  findings: Finding[];
  /** Deliveries of the last 30 days; none when the store cannot be read. */
  traffic: readonly TrafficCount[];
};

const KEY_FIX =
  'Put the former secretKey back; if it is lost, `trackport store rekey` says what is lost with it.';

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
      await store.writes.checkRoom();
      const detail = `Can be read and written.${secretKeyRemark(config)}`;
      const findings = [ok('store', detail), ...(await checkServer(store, clock))];
      return { findings, traffic: await store.stores.traffic().readSince(0) };
    } finally {
      await store.close();
    }
  } catch (error) {
    const what = config.store.url.engine === 'sqlite' ? 'file' : 'database';
    const fix = `Mend that, or name another ${what} in store.url.`;
    if (error instanceof ConfigError)
      return unreadable(failed('secret key', 'The store was filled with another.', KEY_FIX));
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
