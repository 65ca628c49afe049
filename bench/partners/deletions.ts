import { systemClock } from '#shared/clock.ts';
import { createClaimView } from '#leads/claims/claim-view.ts';
import { performance } from 'node:perf_hooks';
import { untilDirectoryIsComplete } from '../../test/support/directory-complete.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { callControl } from '#sandbox/instruments/remote-controls.ts';
import { deleteLead, isOpen, partners } from '../partner.ts';
import { type BenchRow, median } from '../row.ts';
import { serve, startTracker, writeConfig } from '../service.ts';
import { type BenchEngine, openBesideService } from '../stores.ts';

/** Duration of a deletion after its 202: until the lead is claimed, until the issue is closed. */
export async function measureDeletions(
  { folder, newStore }: BenchEngine,
  { deletions }: { deletions: number },
): Promise<BenchRow[]> {
  const tracker = await startTracker(1000, { latencyMs: 50 });
  const storeUrl = await newStore();
  const settings = { partners };
  const service = await serve(writeConfig(folder, { storeUrl, trackerUrl: tracker.url, settings }));
  try {
    await untilDirectoryIsComplete(service.url);
    const urls = { storeUrl, service: service.url, tracker: tracker.url };
    const { claimed, closed } = await timeDeletions(urls, deletions);
    const slowest = (values: readonly number[]): string =>
      `slowest ${Math.max(...values).toFixed(0)} ms`;
    return [
      {
        what: 'from 202 to the claim, tracker answers after 50 ms: slowest',
        value: Math.max(...claimed),
        unit: 'ms',
        wanted: { atMost: 1000 },
        source: `clock and store, ${deletions} deletions`,
      },
      {
        what: 'from 202 to the closed issue, one write a second: median',
        value: median(closed),
        unit: 'ms',
        source: `clock and tracker, ${deletions} deletions`,
        note: slowest(closed),
      },
    ];
  } finally {
    await service.stop();
    await tracker.stop();
  }
}

type Urls = { storeUrl: string; service: string; tracker: string };

/** One deletion after the other, each of a lead that was made a moment before. */
async function timeDeletions({ storeUrl, service, tracker }: Urls, count: number) {
  const store = await openBesideService(storeUrl);
  const claims = createClaimView(store.leadsBy(systemClock));
  const claimed: number[] = [];
  const closed: number[] = [];
  for (let turn = 0; turn < count; turn += 1) {
    const issue = { title: 'A lead', labels: ['approved'], body: '' };
    const { number } = await callControl<{ number: number }>(tracker, 'createIssue', issue);
    await deleteLead(service, number);
    const startedAt = performance.now();
    while (!(await claims.current()).has(number)) await sleep(1);
    claimed.push(performance.now() - startedAt);
    while (await isOpen(tracker, number)) await sleep(5);
    closed.push(performance.now() - startedAt);
  }
  await store.close();
  return { claimed, closed };
}
