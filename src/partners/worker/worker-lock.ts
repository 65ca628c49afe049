/**
 * Port: the right to be the one process that does a store's background work. It ends with the
 * process that has it, however that process ends; in a store of many machines also when its holder
 * does not `take` it again for 15 seconds.
 */
export type WorkerLock = {
  /** True when this process has it, from now on or still. Never waits. @throws {store-unavailable} */
  take(): Promise<boolean>;
  /** Idempotent. */
  release(): Promise<void>;
};
