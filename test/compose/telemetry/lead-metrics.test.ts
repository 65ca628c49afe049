import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import type { TrackerQuota } from '#leads/lead-tracker.ts';
import { leadMetrics } from '../../../src/compose/telemetry/metrics.ts';

test('a quota that is not known is absent, so that no alert takes it for one used up', async () => {
  const registry = new Registry();
  let quota: TrackerQuota | undefined;
  leadMetrics(registry, { tracker: { quota: () => quota }, cacheBytes: () => 7 });
  expect(await registry.metrics()).not.toMatch(/^trackport_tracker_quota/m);
  quota = { limit: 5000, remaining: 0, resetAt: 0 };
  const text = await registry.metrics();
  expect(text).toContain('trackport_tracker_quota_remaining 0');
  expect(text).toContain('trackport_tracker_quota_limit 5000');
  quota = undefined;
  expect(await registry.metrics()).not.toMatch(/^trackport_tracker_quota/m);
});
