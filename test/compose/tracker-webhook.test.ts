import { expect, test } from 'vitest';
import { createTrackerWebhook, type Tracker } from '#compose/tracker.ts';
import type { Config } from '#config/schema/schema.ts';
import { createTraffic, readTraffic, TRACKER } from '#partners/traffic.ts';
import { silentLog } from '#shared/log.ts';
import { createReloadable } from '#config/reload.ts';
import { createFakeClock } from '../support/clock.ts';
import { temporaryDatabase } from '../support/stores.ts';
import { startBodyThread } from '../support/threads.ts';

test('a storm of refused deliveries is one row for each reason, written every five seconds', async () => {
  const clock = createFakeClock();
  const database = temporaryDatabase();
  const traffic = createTraffic({ database, clock, log: silentLog });
  const tracker = { webhookSecrets: [] } as unknown as Config['tracker'];
  const repository = { name: { owner: 'acme', repo: 'leads' }, id: () => undefined };
  const webhook = createTrackerWebhook({
    settings: createReloadable({ tracker }),
    tracker: { repository: repository as Tracker['repository'] },
    leads: { applyEvent: () => undefined, settled: async () => undefined },
    traffic,
    thread: startBodyThread(clock),
  });
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
