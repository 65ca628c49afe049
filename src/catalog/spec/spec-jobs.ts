import { LRUCache } from 'lru-cache';
import { atMostEntries } from '#shared/caching.ts';
import { sha256Hex } from '#shared/crypto/hash.ts';
import { TrackportError } from '#shared/errors.ts';
import type { Changes } from '../diff/changes.ts';
import type { SpecDiffer, SpecPair } from '../diff/diff-specs.ts';
import type { Finding, SpecChecker } from './finding.ts';

/** Caller that waits for a job. Quotas count by `subject`. */
export type JobOwner = { workspaceId: string; subject: string; signal?: AbortSignal };

/** Work on whole specs, which takes seconds at worst. */
export type SpecJobs = {
  /** @throws {quota-exceeded} the owner has two under way already @throws {overloaded} */
  checkSpec: (specText: string, owner: JobOwner) => Promise<Finding[]>;
  /** `too-costly`: the pair takes too much, and is not tried again. @throws as `checkSpec` does */
  diffSpecs: (specs: SpecPair, owner: JobOwner) => Promise<Changes | 'too-costly'>;
};

/** Of one owner at a time, so that nobody keeps all others waiting. */
const JOBS_MAX = 2;
const REMEMBERED_MAX = 1000;

/** Bounds what one owner can have worked on at a time. */
export function createSpecJobs(threads: {
  checkSpec: SpecChecker;
  diffSpecs: SpecDiffer;
}): SpecJobs {
  const running = new Map<string, number>();
  const costly = new LRUCache<string, true>(atMostEntries(REMEMBERED_MAX));
  const run = async <T>({ workspaceId, subject }: JobOwner, work: () => Promise<T>): Promise<T> => {
    const key = JSON.stringify([workspaceId, subject]);
    const own = running.get(key) ?? 0;
    if (own >= JOBS_MAX) refuseJob();
    running.set(key, own + 1);
    try {
      return await work();
    } finally {
      const left = (running.get(key) ?? 1) - 1;
      if (left > 0) running.set(key, left);
      else running.delete(key);
    }
  };
  return {
    checkSpec: (specText, owner) => run(owner, () => threads.checkSpec(specText, owner.signal)),
    diffSpecs: (specs, owner) =>
      run(owner, async () => {
        if (costly.size > 0 && costly.has(nameOf(specs))) return 'too-costly';
        const compared = await threads.diffSpecs(specs, owner.signal);
        if (compared === 'too-costly') costly.set(nameOf(specs), true);
        return compared;
      }),
  };
}

function nameOf({ before = '', after = '' }: SpecPair): string {
  return `${sha256Hex(before)} ${sha256Hex(after)}`;
}

function refuseJob(): never {
  throw new TrackportError('quota-exceeded', {
    detail: `${JOBS_MAX} comparisons or checks of specs of yours are under way already. Wait for one of them.`,
    retryAfterSeconds: 5,
  });
}
