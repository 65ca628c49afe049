import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { compileFsync } from './preload.ts';

/**
 * Waits for an fsync of one of the store's files, and for so many `later` of any; then either that one and all others fail
 * with EIO, or the power goes while it is under way, which kills the process. What begins with the database is a
 * checkpoint, and a log that begins anew after it.
 */
export type Break = { from: 'database' | 'log'; later: number; how: 'eio' | 'cut' };

/** The disk below a SQLite store, which may lose at a power cut what no fsync has written. */
export type Disk = {
  /** To be set for whatever writes the store. */
  environment: Record<string, string>;
  /** From now on the disk is bad: see `Break`. */
  breakAt(moment: Break): void;
  /** From now on it is a good disk. */
  mend(): void;
  /** Puts in the store's place what the disk may hold if the power goes now. Nobody may have the store open. */
  loseUnsynced(random: () => number): void;
};

/** All of the store is on the disk now. `folder` is empty, for the disk. Undefined without a C compiler. */
export function createDisk(store: string, folder: string): Disk | undefined {
  const library = compileFsync(folder);
  if (library === undefined) return undefined;
  const disk = path.join(folder, 'disk');
  mkdirSync(disk);
  const real = realpathSync(store);
  const files = [real, `${real}-wal`].map((file) => ({
    file,
    synced: path.join(disk, path.basename(file)),
  }));
  for (const { file, synced } of files) if (existsSync(file)) copyFileSync(file, synced);
  const fault = path.join(disk, 'fault');
  return {
    environment: {
      LD_PRELOAD: library,
      FSYNC_STORE: real,
      FSYNC_DISK: disk,
    },
    breakAt: ({ from, later, how }) => {
      const name = path.basename(from === 'database' ? real : `${real}-wal`);
      writeFileSync(`${fault}.new`, `${name} ${later} ${how}`);
      renameSync(`${fault}.new`, fault); // nobody finds half of it
    },
    mend: () => rmSync(fault),
    loseUnsynced: (random) => {
      for (const { file, synced } of files) {
        writeFileSync(file, afterPowerCut(read(synced), read(file), random));
        copyFileSync(file, synced);
      }
      rmSync(`${real}-shm`, { force: true });
    },
  };
}

function read(file: string): Buffer {
  return existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
}

/** Unit that a disk writes as a whole: a page that is longer may be torn. */
const SECTOR = 512;

/**
 * Makes a file as it may be left: all that the last fsync wrote, and of what was written since, `written`, nothing, the first
 * part, or any sectors.
 */
function afterPowerCut(synced: Buffer, written: Buffer, random: () => number): Buffer {
  const changed = changedSectors(synced, written);
  const first = Math.floor(random() * (changed.length + 2));
  const survives = [() => false, (place: number) => place < first, () => random() < 0.5][
    Math.floor(random() * 3)
  ] as (place: number) => boolean;
  const surviving = changed.filter((_, place) => survives(place));
  const isCut = written.length < synced.length && survives(changed.length);
  const end = Math.max(
    isCut ? written.length : synced.length,
    Math.min((surviving.at(-1) ?? -SECTOR) + SECTOR, written.length),
  );
  const left = Buffer.alloc(end);
  synced.copy(left);
  for (const at of surviving) written.copy(left, at, at, at + SECTOR);
  return left;
}

/** Offsets of the sectors of `written` that are others in `synced`. */
function changedSectors(synced: Buffer, written: Buffer): number[] {
  const changed: number[] = [];
  for (let at = 0; at < written.length; at += SECTOR) {
    const sector = written.subarray(at, at + SECTOR);
    if (!sector.equals(synced.subarray(at, at + SECTOR))) changed.push(at);
  }
  return changed;
}
