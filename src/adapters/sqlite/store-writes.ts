/** Writes that concern the store as a whole: its room, and whose worker works on it. */
import type { Connection } from './connection/connection.ts';
import type { WriteFamily } from './writer/writer.ts';

type CheckWrites = ReturnType<typeof createCheckWrites>;

export const checkWrites: WriteFamily<undefined, CheckWrites> = {
  name: 'write-check',
  create: createCheckWrites,
};

function createCheckWrites({ handle }: Connection) {
  const fill = handle.prepare<[number]>('UPDATE write_check SET filler = zeroblob(?)');
  return { fill: (bytes: number): void => void fill.run(bytes) };
}

/** The row of `worker_lease`. */
export type Lease = {
  /** Null: nobody. */
  holder: string | null;
  /** Another one after each renewal. */
  beat: number;
  /** 1: its holder has the lock on the file beside the store, too. */
  hasLock: 0 | 1;
  /** 1: another process would do what its holder cannot. */
  isAsked: 0 | 1;
};

type LeaseWrites = ReturnType<typeof createLeaseWrites>;

export const leaseWrites: WriteFamily<undefined, LeaseWrites> = {
  name: 'worker-lease',
  create: createLeaseWrites,
};

function createLeaseWrites({ handle }: Connection) {
  const take = handle.prepare<[Lease & { instance: string }]>(`
    UPDATE worker_lease SET holder = @instance, beat = beat + 1, hasLock = @hasLock, isAsked = 0
    WHERE holder IS @holder AND beat = @beat`);
  const renew = handle.prepare<[{ instance: string; hasLock: 0 | 1 }]>(
    'UPDATE worker_lease SET beat = beat + 1, hasLock = @hasLock WHERE holder = @instance',
  );
  const ask = handle.prepare('UPDATE worker_lease SET isAsked = 1 WHERE isAsked = 0');
  const release = handle.prepare<[{ instance: string }]>(
    'UPDATE worker_lease SET holder = NULL WHERE holder = @instance',
  );
  return {
    /** False when anything was said about the lease since it was `seen`. */
    take: (instance: string, { seen, hasLock }: { seen: Lease; hasLock: 0 | 1 }): boolean =>
      take.run({ ...seen, instance, hasLock }).changes === 1,
    /** False when another process has it. */
    renew: (instance: string, hasLock: 0 | 1): boolean =>
      renew.run({ instance, hasLock }).changes === 1,
    ask: (): void => void ask.run(),
    release: (instance: string): void => void release.run({ instance }),
  };
}
