/**
 * Port: the right to be the one process that does a store's background work. It leaves a holder that
 * does not `take` it again for 15 seconds.
 */
export type WorkerLease = {
  /** True when this process has it, from now on or still. Never waits. @throws {store-unavailable} */
  take(): Promise<boolean>;
  /** Asks who has it to release it: this process knows partners that the other one lacks. */
  ask(): Promise<void>;
  /** Whether another process has asked since somebody took it last. */
  isAsked(): Promise<boolean>;
  /** Idempotent. */
  release(): Promise<void>;
};
