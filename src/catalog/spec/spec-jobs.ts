import { LRUCache } from 'lru-cache';
import { atMostEntries } from '#shared/caching.ts';
import { sha256Hex } from '#shared/crypto/hash.ts';
import { TrackportError } from '#shared/errors.ts';
import type { Changes } from '../diff/changes.ts';
import type { SpecPair } from '../diff/diff-specs.ts';
import type { Finding } from '../version/artifact.ts';

/** Caller that waits for a job. Quotas count by `subject`. */
export type JobOwner = { workspaceId: string; subject: string; signal?: AbortSignal };

/**
 * Says what is wrong with a spec, given as its JSON text, without holding up everybody else.
 * @throws {overloaded} too many big ones wait
 */
export type SpecChecker = (specText: string, signal?: AbortSignal) => Promise<Finding[]>;

/**
 * Compares two specs. `too-costly`: this pair takes too much time or memory, and will again.
 * @throws {overloaded} too many big ones wait
 */
export type SpecDiffer = (specs: SpecPair, signal?: AbortSignal) => Promise<Changes | 'too-costly'>;

/**
 * Writes a spec as YAML; undefined for what is too long, or takes too much time or memory.
 * @throws {overloaded} too many big ones wait
 */
type RenderSpecYaml = (specText: string, signal?: AbortSignal) => Promise<string | undefined>;

/** The work on whole specs, wherever it is done. */
export type SpecThreads = {
  checkSpec: SpecChecker;
  diffSpecs: SpecDiffer;
  renderSpecYaml: RenderSpecYaml;
};

/** Work on whole specs, which takes seconds at worst. */
export type SpecJobs = {
  /** @throws {quota-exceeded} the owner has two under way already @throws {overloaded} */
  checkSpec: (specText: string, owner: JobOwner) => Promise<Finding[]>;
  /** `too-costly`: the pair takes too much, and is not tried again. @throws as `checkSpec` does */
  diffSpecs: (specs: SpecPair, owner: JobOwner) => Promise<Changes | 'too-costly'>;
  /** The same. Whoever wants what is being written already waits for that, and it does not count. */
  renderSpecYaml: (specText: string, owner: JobOwner) => Promise<string | undefined>;
};

/** Of one owner at a time, so that nobody keeps all others waiting. */
const JOBS_MAX = 2;
const REMEMBERED_MAX = 1000;

/** Bounds what one owner can have worked on at a time. */
export function createSpecJobs(threads: SpecThreads): SpecJobs {
  const running = new Map<string, number>();
  const renderings = createRenderings(threads.renderSpecYaml);
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
    renderSpecYaml: (specText, owner) =>
      renderings.join(specText, owner) ?? run(owner, () => renderings.begin(specText, owner)),
  };
}

/** `unread` is aborted when all its readers have hung up. */
type Rendering = { yaml: Promise<string | undefined>; readers: number; unread: AbortController };

type Reading = Pick<JobOwner, 'signal'>;

/** Renderings under way, one for all who want the same. */
function createRenderings(renderSpecYaml: RenderSpecYaml) {
  const underWay = new Map<string, Rendering>();
  const end = (specText: string, rendering: Rendering): void => {
    if (underWay.get(specText) === rendering) underWay.delete(specText);
  };
  const join = (specText: string, { signal }: Reading): Rendering['yaml'] | undefined => {
    const rendering = underWay.get(specText);
    if (!rendering) return undefined;
    rendering.readers += 1;
    const leave = (): void => {
      rendering.readers -= 1;
      if (rendering.readers > 0) return;
      end(specText, rendering);
      rendering.unread.abort();
    };
    signal?.addEventListener('abort', leave, { once: true });
    if (signal?.aborted === true) leave();
    return rendering.yaml;
  };
  const begin = (specText: string, reading: Reading): Rendering['yaml'] => {
    const unread = new AbortController();
    const yaml = renderSpecYaml(specText, unread.signal).finally(() => end(specText, rendering));
    const rendering = { yaml, readers: 0, unread };
    underWay.set(specText, rendering);
    void join(specText, reading);
    return yaml;
  };
  return { join, begin };
}

function nameOf({ before = '', after = '' }: SpecPair): string {
  return `${sha256Hex(before)} ${sha256Hex(after)}`;
}

function refuseJob(): never {
  throw new TrackportError('quota-exceeded', {
    detail: `${JOBS_MAX} comparisons, checks or YAML renderings of your specs are under way already. Wait for one of them.`,
    retryAfterSeconds: 5,
  });
}
