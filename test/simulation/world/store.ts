import type { SearchVersions } from '#catalog/reading/search.ts';
import type { Engine, EngineWorld } from './engine.ts';
import type { Inspector } from './inspector.ts';
import type { Owner } from './scheduler.ts';

/** The store that the instances of one history share. */
export type SimulatedStore = {
  inspector: Inspector;
  search: SearchVersions;
  /** An instance's way to it. */
  open(owner: Owner, deps: EngineWorld): Engine;
  /** Takes the lock that all writers need, for another process. Returns what gives it back; undefined: somebody has it. */
  lock?: () => (() => void) | undefined;
  /** Resolves when no request to a server is under way, but for those that wait for each other. */
  settled?: () => Promise<void>;
  /** Rows of this engine alone that refer to others without a foreign key, or have lost them. */
  orphans: Readonly<Record<string, string>>;
  /** Places in it at which these bytes stand. */
  placesOf(text: string): string[];
  close(): void;
};

/** New ones, with the newest schema and nothing in them. */
export type Stores = { create(seed: number): SimulatedStore };
