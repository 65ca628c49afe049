/**
 * Port: the right to be the one process that does a store's background work. It ends with the
 * process that has it, however that process ends.
 */
export type WorkerLock = {
  /** True when this process has it, from now on or already. Never waits. @throws {store-unavailable} */
  take(): Promise<boolean>;
  /** Idempotent. */
  release(): Promise<void>;
};
