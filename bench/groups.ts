/** Figures of the bench, in groups that `--only` picks from. */
import type { BenchRow } from './row.ts';
import { onBothStores } from './stores.ts';

/** Measures some figures that belong together. */
export type Group = () => Promise<BenchRow[]>;

/** All groups by name, in the order in which they are measured. `isQuick`: only to see that they work. */
export function groupsOf(isQuick: boolean): Record<string, Group> {
  return {
    ...leadGroups(isQuick),
    ...partnerGroups(isQuick),
    ...catalogGroups(isQuick),
  };
}

/** `leads` counts rows, pull requests and unapproved issues among them. */
function leadGroups(isQuick: boolean): Record<string, Group> {
  const leads = isQuick ? 500 : 18_760;
  const hot = { leads: isQuick ? 500 : 2000, seconds: isQuick ? 1 : 3, rounds: isQuick ? 1 : 3 };
  const feed = {
    issues: isQuick ? 500 : 2000,
    changes: isQuick ? 5 : 20,
    listeners: isQuick ? 100 : 1000,
    idleSeconds: isQuick ? 2 : 10,
    followSeconds: isQuick ? 5 : 20,
  };
  return {
    'leads-hot': async () => {
      const { measureHot } = await import('./leads/hot.ts');
      return onBothStores((engine) => measureHot(engine, hot));
    },
    'leads-walks': async () => {
      const { measureWalks } = await import('./leads/walks.ts');
      return onBothStores((engine) => measureWalks(engine, leads));
    },
    'leads-feed': async () => {
      const { measureFeed } = await import('./leads/feed.ts');
      return onBothStores((engine) => measureFeed(engine, feed));
    },
  };
}

function partnerGroups(isQuick: boolean): Record<string, Group> {
  const short = isQuick ? { seconds: 1, rounds: 1 } : { seconds: 3, rounds: 3 };
  const intake = { ...short, people: isQuick ? 10_000 : 300_000 };
  return {
    intake: async () => {
      const { measureIntake } = await import('./intake/intake.ts');
      return onBothStores((engine) => measureIntake(engine, intake));
    },
    'slow-disk': async () => {
      const { measureSlowDisk } = await import('./slow-disk/slow-disk.ts');
      return measureSlowDisk(isQuick ? short : { seconds: 2, rounds: 8 });
    },
    deletions: async () => {
      const { measureDeletions } = await import('./partners/deletions.ts');
      return onBothStores((engine) => measureDeletions(engine, { deletions: isQuick ? 3 : 10 }));
    },
  };
}

function catalogGroups(isQuick: boolean): Record<string, Group> {
  const short = isQuick ? { seconds: 1, rounds: 1 } : { seconds: 3, rounds: 3 };
  const reads = isQuick
    ? { artifacts: 2000, calls: 100, rounds: 1 }
    : { artifacts: 200_000, calls: 300, rounds: 5 };
  return {
    'catalog-token': async () => {
      const { measureTokenRead } = await import('./catalog/token-read.ts');
      return onBothStores((engine) => measureTokenRead(engine, short));
    },
    'catalog-reads': async () => {
      const { measureCatalogReads } = await import('./catalog/reads.ts');
      return onBothStores((engine) => measureCatalogReads(engine, reads));
    },
  };
}
