import type { Model } from '../model.ts';
import type { Inspector } from './inspector.ts';
import type { Instance, Served } from './instance.ts';
import type { Scheduler } from './scheduler.ts';
import type { SimulatedStore } from './store.ts';
import type { SimulatedTracker } from './tracker.ts';
import type { Weather } from './weather.ts';

export type World = {
  scheduler: Scheduler;
  /** Numbers of [0, 1) for what people decide. */
  random: () => number;
  weather: Weather;
  model: Model;
  tracker: SimulatedTracker;
  inspector: Inspector;
  store: SimulatedStore;
  instances: Instance[];
  violations: string[];
  /** People go on until then. */
  isOver: boolean;
  violate: (what: string) => void;
  /** Somebody does something, to be read in the history. */
  tell: (what: string) => void;
  pause(ms: number): Promise<void>;
  pick<T>(list: readonly T[]): T | undefined;
  /** Calls one of the instances, as a load balancer would. @throws {CutOff} */
  call<T>(work: (served: Served, instance: Instance) => Promise<T>): Promise<T>;
  close(): void;
};
