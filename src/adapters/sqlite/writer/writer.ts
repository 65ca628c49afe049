import type { StoreDatabase } from '../../store/session.ts';
import type { Connection } from '../connection/connection.ts';

/** Functions that write, each one transaction of its own. What they take and return is plain data. */
export type Writes = Record<string, (...input: never[]) => unknown>;

/** The names under which a thread finds the functions of each store. */
export type FamilyName =
  | 'claims'
  | 'directory'
  | 'receipt'
  | 'work'
  | 'worker-lease'
  | 'write-check';

/** What one store writes, for whichever connection it is that writes. */
export type WriteFamily<Options, W extends Writes> = {
  name: FamilyName;
  /** `options` are plain data, too. @throws {store-unavailable} */
  create(connection: Connection, options: Options): W;
  /**
   * Functions that have another one which makes several of their writes at once: it takes a list of what
   * they take, one thing each, and returns a list of what they return.
   */
  together?: Partial<Record<keyof W & string, keyof W & string>>;
};

/**
 * Runs one function of a family and resolves once it is committed. Rejects with what the function
 * threw, and then it changed nothing. @throws {store-unavailable} nothing was committed
 */
export type Write<W extends Writes> = <Name extends keyof W & string>(
  name: Name,
  ...input: Parameters<W[Name]>
) => Promise<Awaited<ReturnType<W[Name]>>>;

/**
 * Everything that is written goes through one of these. Writes that are asked for at the same time,
 * of whatever family, share one commit and with it one write to the disk.
 */
export type Writer = StoreDatabase['writer'] & {
  /** The family's functions; its statements are prepared for the first of them. */
  open<Options, W extends Writes>(family: WriteFamily<Options, W>, options: Options): Write<W>;
  /** As `Connection.truncateLog`. */
  truncateLog(): Promise<boolean>;
  /** Another number whenever another process has committed something. Cheap. */
  foreignVersion(): Promise<number>;
  /** Resolves when all that was asked for is written and the connection is closed. Idempotent. */
  close(): Promise<void>;
};
