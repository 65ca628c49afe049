import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';

/** A file that is not whole yet, beside the one that it will be. */
export type Draft = {
  /** `TARGET.….part`, empty, readable by its owner only. */
  readonly file: string;
  /**
   * Gives it the target's name, once all of it is on the disk: whoever looks finds the whole file
   * or what was there before. @throws EEXIST when it may not replace a file that is there
   */
  publish(options: { replace: boolean }): void;
  /** Removes what was not published. */
  discard(): void;
};

/** @throws the file system's own errors */
export function openDraft(target: string): Draft {
  const file = `${target}.${randomUUID()}.part`;
  closeSync(openSync(file, 'wx', 0o600));
  const discard = (): void => {
    rmSync(file, { force: true });
    removeSidecars(file);
  };
  return {
    file,
    publish: ({ replace }) => {
      sync(file);
      if (replace) renameSync(file, target);
      else linkSync(file, target);
      discard();
      sync(path.dirname(target));
    },
    discard,
  };
}

/** Removes what SQLite keeps beside a file. */
export function removeSidecars(file: string): void {
  for (const ending of ['-journal', '-wal', '-shm']) rmSync(`${file}${ending}`, { force: true });
}

function sync(file: string): void {
  const descriptor = openSync(file, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
