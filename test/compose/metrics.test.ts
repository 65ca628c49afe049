import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import type { TrackerQuota } from '#leads/lead-tracker.ts';
import { leadFeedMetrics, leadMetrics, trackerCallMetrics } from '#compose/metrics.ts';

test('a quota or a clock that is not known is absent, so that no alert takes it for one used up', async () => {
  const registry = new Registry();
  let quota: TrackerQuota | undefined;
  let skewMs: number | undefined;
  leadMetrics(registry, {
    tracker: { quota: () => quota },
    clockSkewMs: () => skewMs,
    cacheBytes: () => 7,
  });
  expect(await registry.metrics()).not.toMatch(/^trackport_clock_skew_seconds/m);
  skewMs = -1_800_000;
  expect(await registry.metrics()).toContain('trackport_clock_skew_seconds -1800\n');
  expect(await registry.metrics()).not.toMatch(/^trackport_tracker_quota/m);
  quota = { limit: 5000, remaining: 0, resetAt: 0 };
  const text = await registry.metrics();
  expect(text).toContain('trackport_tracker_quota_remaining 0');
  expect(text).toContain('trackport_tracker_quota_limit 5000');
  quota = undefined;
  expect(await registry.metrics()).not.toMatch(/^trackport_tracker_quota/m);
});

test('the lead feed counts what it sends, and how late where somebody waited for it', async () => {
  const registry = new Registry();
  const count = leadFeedMetrics(registry, { listeners: () => 3 });
  count();
  count(400);
  const text = await registry.metrics();
  expect(text).toContain('trackport_lead_feed_listeners 3\n');
  expect(text).toContain('trackport_lead_feed_items_total 2\n');
  expect(text).toContain('trackport_lead_feed_lag_seconds_bucket{le="1"} 1\n');
  expect(text).toContain('trackport_lead_feed_lag_seconds_sum 0.4\n');
});

test('calls to the tracker are counted under the labels that the documents name', async () => {
  const registry = new Registry();
  const count = trackerCallMetrics(registry);
  count({ route: 'list', status: 304, isBilled: false, durationMs: 5 });
  count({ route: 'list', failure: 'timeout', isBilled: false, durationMs: 5 });
  count({ route: 'edit', status: 200, isBilled: true, durationMs: 5 });
  const lines = (await registry.metrics()).split('\n');
  expect(lines.filter((line) => line.startsWith('trackport_tracker_calls_total{'))).toEqual([
    'trackport_tracker_calls_total{route="list",status="304",billed="false"} 1',
    'trackport_tracker_calls_total{route="list",status="timeout",billed="false"} 1',
    'trackport_tracker_calls_total{route="edit",status="200",billed="true"} 1',
  ]);
});
