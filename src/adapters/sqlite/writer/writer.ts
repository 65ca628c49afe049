import type { StoreDatabase } from '../../store/session.ts';

/**
 * Everything that is written goes through one of these. Writes that are asked for at the same time,
 * of whatever store, share one commit and with it one write to the disk.
 */
export type Writer = StoreDatabase['writer'] & {
  /** As `Connection.truncateLog`. */
  truncateLog(): Promise<boolean>;
  /** Another number whenever another process has committed something. Cheap. */
  foreignVersion(): Promise<number>;
  /** Resolves when all that was asked for is written and the connection is closed. Idempotent. */
  close(): Promise<void>;
};
