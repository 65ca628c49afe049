import { expect, test } from 'vitest';
import { createRegistry, trackerCallMetrics } from '../../../src/compose/telemetry/metrics.ts';

test('calls to the tracker are counted under the labels that the documents name', async () => {
  const registry = createRegistry();
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
