/** What the bench measures, in groups that `--only` picks from. */
import type { BenchRow } from './row.ts';
import { onBothStores, onSqlite } from './stores.ts';

/** Measures some figures that belong together. */
export type Group = () => Promise<BenchRow[]>;

/** All groups by name, in the order in which they are measured. `isQuick`: only to see that they work. */
export function groupsOf(isQuick: boolean): Record<string, Group> {
  return {
    ...leadGroups(isQuick),
    ...partnerGroups(isQuick),
    ...catalogGroups(isQuick),
    ...instanceGroups(isQuick),
    ...portalGroups(isQuick),
  };
}

/** `leads` counts rows: with pull requests and unapproved issues among them, 10,000 leads are left. */
function leadGroups(isQuick: boolean): Record<string, Group> {
  const leads = isQuick ? 500 : 18_760;
  const hot = { leads: isQuick ? 500 : 2000, seconds: isQuick ? 1 : 3, rounds: isQuick ? 1 : 3 };
  const calls = { leads, reads: isQuick ? 200 : 10_000, pollSeconds: isQuick ? 5 : 60 };
  const feed = {
    issues: isQuick ? 500 : 2000,
    changes: isQuick ? 5 : 20,
    listeners: isQuick ? 100 : 1000,
    idleSeconds: isQuick ? 2 : 10,
    followSeconds: isQuick ? 5 : 20,
    deliveries: isQuick ? 200 : 1000,
    rounds: isQuick ? 1 : 3,
  };
  const starts = { starts: isQuick ? 1 : 7 };
  return {
    'leads-hot': async () => {
      const { measureHot } = await import('./leads/hot.ts');
      return onBothStores((engine) => measureHot(engine, hot));
    },
    'leads-walks': async () => {
      const { measureWalks } = await import('./leads/walks.ts');
      return onBothStores((engine) => measureWalks(engine, leads));
    },
    'leads-calls': async () => {
      const { measureCalls } = await import('./leads/calls.ts');
      return onSqlite((engine) => measureCalls(engine, calls));
    },
    'leads-feed': async () => {
      const { measureFeed } = await import('./leads/feed.ts');
      return onBothStores((engine) => measureFeed(engine, feed));
    },
    start: async () => {
      const { measureStart } = await import('./leads/start.ts');
      return onSqlite((engine) => measureStart(engine, starts));
    },
  };
}

function partnerGroups(isQuick: boolean): Record<string, Group> {
  const short = isQuick ? { seconds: 1, rounds: 1 } : { seconds: 3, rounds: 3 };
  const intake = { ...short, people: isQuick ? 10_000 : 300_000 };
  const webhooks = isQuick
    ? { deliveries: 500, rounds: 1, memoryAfter: 5000 }
    : { deliveries: 6000, rounds: 3, memoryAfter: 20_000 };
  const lookups = isQuick
    ? { directory: 10_000, rounds: 1, lookups: 500 }
    : { directory: 1_000_000, rounds: 5, lookups: 5000 };
  return {
    intake: async () => {
      const { measureIntake } = await import('./intake/intake.ts');
      return onBothStores((engine) => measureIntake(engine, intake));
    },
    'slow-disk': async () => {
      const { measureSlowDisk } = await import('./slow-disk/slow-disk.ts');
      return measureSlowDisk(short);
    },
    lookups: async () => {
      const { measureLookups } = await import('./partners/lookups.ts');
      return onBothStores((engine) => measureLookups(engine, lookups));
    },
    deletions: async () => {
      const { measureDeletions } = await import('./partners/deletions.ts');
      return onBothStores((engine) => measureDeletions(engine, { deletions: isQuick ? 3 : 10 }));
    },
    webhooks: async () => {
      const { measureWebhooks } = await import('./webhooks/webhooks.ts');
      return onSqlite((engine) => measureWebhooks(engine, webhooks));
    },
  };
}

function catalogGroups(isQuick: boolean): Record<string, Group> {
  const short = isQuick ? { seconds: 1, rounds: 1 } : { seconds: 3, rounds: 3 };
  const writes = isQuick ? { calls: 50, rounds: 1 } : { calls: 300, rounds: 5 };
  const reads = isQuick
    ? { artifacts: 2000, calls: 100, rounds: 1 }
    : { artifacts: 200_000, calls: 300, rounds: 5 };
  return {
    'catalog-token': async () => {
      const { measureTokenRead } = await import('./catalog/token-read.ts');
      return onBothStores((engine) => measureTokenRead(engine, short));
    },
    'catalog-writes': async () => {
      const { measureCatalogWrites } = await import('./catalog/writes.ts');
      return onBothStores((engine) => measureCatalogWrites(engine, writes));
    },
    'catalog-reads': async () => {
      const { measureCatalogReads } = await import('./catalog/reads.ts');
      return onBothStores((engine) => measureCatalogReads(engine, reads));
    },
  };
}

function instanceGroups(isQuick: boolean): Record<string, Group> {
  const processes = isQuick ? { seconds: 1, rounds: 1 } : { seconds: 3, rounds: 3 };
  const processor = isQuick
    ? { reads: 2000, warmUpReads: 1000, deletions: 20, rounds: 1, idleSeconds: 2 }
    : { reads: 12_000, warmUpReads: 30_000, deletions: 150, rounds: 3, idleSeconds: 10 };
  const calls = isQuick
    ? { issues: 1000, deletions: 3, seconds: 4 }
    : { issues: 5000, deletions: 10, seconds: 20 };
  return {
    processes: async () => {
      const { measureTwoProcesses } = await import('./instances/two-processes.ts');
      return onBothStores((engine) => measureTwoProcesses(engine, processes));
    },
    'processor-time': async () => {
      const { measureProcessorTime } = await import('./instances/processor-time.ts');
      return onBothStores((engine) => measureProcessorTime(engine, processor));
    },
    'tracker-calls': async () => {
      const { measureTrackerCalls } = await import('./instances/tracker-calls.ts');
      return onBothStores((engine) => measureTrackerCalls(engine, calls));
    },
  };
}

function portalGroups(isQuick: boolean): Record<string, Group> {
  return {
    portal: async () => {
      const { measurePages } = await import('./portal/pages.ts');
      return measurePages({ requests: isQuick ? 5 : 100 });
    },
  };
}
