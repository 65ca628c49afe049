import type { Actor } from '#shared/audit.ts';
import type { Clock } from '#shared/clock.ts';
import type { Database, Tx } from '#shared/database.ts';
import type { CursorSealer } from '#shared/pagination/page.ts';
import {
  createSpecJobs,
  type JobOwner,
  type SpecJobs,
  type SpecThreads,
} from './spec/spec-jobs.ts';
import type { SearchVersions } from './reading/search.ts';
import type { ReadRecord } from './usage.ts';
import { coreSources, coreTypes, type VersionView } from './version/artifact.ts';
import type { Words } from './version/content-check.ts';

/** The catalog, as its use cases work on it. */
export type Catalog = SpecJobs & {
  db: Database;
  /** Full text as the engine of the store reads it. */
  search: SearchVersions;
  clock: Pick<Clock, 'now'>;
  cursors: CursorSealer;
  /** Counts reads of versions. */
  usage: ReadRecord;
  /** Returns those in force, which a reload replaces: take them once for all that is to go by the same. */
  rules: () => CatalogRules;
};

/** On whose behalf. The workspace comes from the credential, never from a request's parameters. */
export type Caller = {
  workspaceId: string;
  actor: Actor;
  requestId?: string;
  /** Aborted when nobody waits for the answer any more. */
  signal?: AbortSignal;
  /** Stores the response for the call's idempotency key, in the transaction of the change. */
  storeUnderKey?: (tx: Tx, view: VersionView) => Promise<void>;
};

/** On whose behalf something is read: a workspace is a part of every query. */
export type Reader = Pick<Caller, 'workspaceId' | 'signal'>;

export function jobOwnerOf({ workspaceId, signal, actor: { subject } }: Caller): JobOwner {
  return { workspaceId, signal, subject };
}

/** Rules of the catalog as the configuration has them. */
export type CatalogRules = Words & {
  /** Workspaces whose published artifacts anybody may find. */
  public: readonly string[];
  /** Findings stop a version from being published, or are told alone. */
  findings: 'block' | 'warn';
  /** Breaking changes stop it, or are told alone; `off`: nobody looks for them. */
  compatibility: 'off' | 'warn' | 'block';
};

/** `types` and `sources` of the rules are those that the configuration adds. */
export type CatalogOptions = Omit<Catalog, keyof SpecJobs> & SpecThreads;

export function createCatalog(options: CatalogOptions): Catalog {
  const rules = (): CatalogRules => {
    const { types, sources, ...others } = options.rules();
    return { ...others, types: [...coreTypes, ...types], sources: [...coreSources, ...sources] };
  };
  return { ...options, ...createSpecJobs(options), rules };
}
