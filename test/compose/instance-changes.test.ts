/** Instances of a store tell each other what they learn, where there may be several. */
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openServiceStore } from '#compose/store.ts';
import { loadConfig } from '#config/load.ts';
import type { InstanceChange } from '#leads/instance-changes.ts';
import { systemClock as clock } from '#shared/clock.ts';
import { type Log, silentLog } from '#shared/log.ts';
import { temporaryFolder } from '../support/folder.ts';
import { migratedPostgres } from '../support/postgres/database.ts';
import { connectTo } from '../support/stores.ts';

const EVERYTHING: InstanceChange = { kind: 'everything' };

async function open(url: string, log: Log = silentLog) {
  const tracker = { repository: 'acme/leads', auth: { token: 't' } };
  const secretKey = Buffer.alloc(32, 1).toString('base64');
  const settings = { store: { url }, tracker, secretKey };
  const config = loadConfig({ environment: {}, settings });
  const store = await openServiceStore({ config, clock, log });
  onTestFinished(() => store.close());
  return store;
}

test('the one service of a SQLite file has nobody to tell, and commits nothing for it', async () => {
  const file = path.join(temporaryFolder(), 'trackport.db');
  const failed: string[] = [];
  const store = await open(`sqlite:${file}`, {
    ...silentLog,
    error: (_fields, msg) => void failed.push(msg),
  });
  const changes = store.instanceChanges('one');
  const other = connectTo(file);
  const before = await other.dataVersion();
  changes.publish(EVERYTHING);
  await changes.settled();
  expect(await other.dataVersion()).toBe(before);
  expect(failed).toEqual([]); // nothing was tried: the file has no table for it
});

test('instances on PostgreSQL tell each other', async () => {
  const { url } = await migratedPostgres();
  const store = await open(url);
  const [one, other] = [store.instanceChanges('one'), store.instanceChanges('other')];
  onTestFinished(async () => void (await Promise.all([one.close(), other.close()])));
  const heard: InstanceChange[] = [];
  await other.follow({ onChange: (change) => heard.push(change), onGap: () => undefined });
  one.publish(EVERYTHING);
  await one.settled();
  await other.becomeCurrent();
  expect(heard).toEqual([EVERYTHING]);
});
