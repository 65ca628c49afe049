import { expect, test } from 'vitest';
import { type App, composeWebhook } from '#compose/app.ts';
import { createTraffic, readTraffic, TRACKER } from '#partners/traffic.ts';
import { silentLog } from '#shared/log.ts';
import { createReloadable } from '#config/reloadable.ts';
import { createFakeClock } from '../support/clock.ts';
import { temporaryDatabase } from '../support/stores.ts';
import { startBodyThread } from '../support/threads.ts';

test('a storm of refused deliveries is one row for each reason, written every five seconds', async () => {
  const clock = createFakeClock();
  const database = temporaryDatabase();
  const traffic = createTraffic({ database, clock, log: silentLog });
  const parts = {
    settings: createReloadable({ tracker: { webhookSecrets: [] } }),
    tracker: { repository: { name: 'acme/leads', id: () => undefined } },
    traffic,
  };
  const webhook = composeWebhook(parts as unknown as App, startBodyThread(clock));
  for (let count = 0; count < 1000; count += 1) webhook.onRefused('signature-wrong');
  webhook.onRefused('content-type');
  expect(await readTraffic(database, 0)).toEqual([]);
  await clock.advance(5000);
  await expect
    .poll(() => readTraffic(database, 0))
    .toEqual([
      expect.objectContaining({ sender: TRACKER, kind: 'refused', detail: 'content-type' }),
      expect.objectContaining({ sender: TRACKER, detail: 'signature-wrong', count: 1000 }),
    ]);
  await traffic.close();
});
