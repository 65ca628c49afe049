/** Writes that concern the file as a whole: its room, and whose worker works on it. */
import type { Session } from '../store/session.ts';

const FILL = 'UPDATE write_check SET filler = zeroblob(@bytes)';

export const checkWrites = {
  fill: async (session: Session, bytes: number): Promise<void> => {
    await session.run(FILL, { bytes });
  },
};

/** The row of `worker_lease`. */
export type Lease = {
  /** Null: nobody. */
  holder: string | null;
  /** Another one after each renewal. */
  beat: number;
  /** Its holder has the lock on the file beside the store, too. */
  hasLock: boolean;
  /** Another process would do what its holder cannot. */
  isAsked: boolean;
};

export const READ_LEASE = 'SELECT holder, beat, has_lock, is_asked FROM worker_lease';

const TAKE = `
  UPDATE worker_lease SET holder = @instance, beat = beat + 1, has_lock = @hasLock, is_asked = 0
  WHERE holder IS @holder AND beat = @beat`;

const RENEW = `
  UPDATE worker_lease SET beat = beat + 1, has_lock = @hasLock WHERE holder = @instance`;

const ASK = 'UPDATE worker_lease SET is_asked = 1 WHERE is_asked = 0';

const RELEASE = 'UPDATE worker_lease SET holder = NULL WHERE holder = @instance';

export const leaseWrites = {
  /** False when anything was said about the lease since it was `seen`. */
  take: async (
    session: Session,
    instance: string,
    { seen, hasLock }: { seen: Lease; hasLock: boolean },
  ): Promise<boolean> => (await session.run(TAKE, { ...seen, instance, hasLock })) === 1,
  /** False when another process has it. */
  renew: async (session: Session, instance: string, hasLock: boolean): Promise<boolean> =>
    (await session.run(RENEW, { instance, hasLock })) === 1,
  ask: async (session: Session): Promise<void> => void (await session.run(ASK)),
  release: async (session: Session, instance: string): Promise<void> =>
    void (await session.run(RELEASE, { instance })),
};
