/** Things that a process must not leave behind, whoever ends it: only SIGKILL leaves it behind. */
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import path from 'node:path';

const REMOVALS_MAX = 100;
const REMOVE_AGAIN_MS = 50;
const nothing = new Int32Array(new SharedArrayBuffer(4));

const undoings = new Set<() => void>();

process.on('exit', () => {
  for (const undo of [...undoings].toReversed()) undo();
});

/** Ends a child process with this one, by `signal` (SIGKILL). */
export function endAtExit<Child extends ChildProcess>(
  child: Child,
  signal: NodeJS.Signals = 'SIGKILL',
): Child {
  const end = (): void => void child.kill(signal);
  undoings.add(end);
  child.once('exit', () => undoings.delete(end));
  return child;
}

/** A folder of this process's own, empty. */
export type ScratchFolder = { path: string } & Disposable;

/** Makes one whose name begins with `trackport-` and `name`. It goes with this process, if not before. */
export function scratchFolder(name: string): ScratchFolder {
  const folder = mkdtempSync(path.join(tmpdir(), `trackport-${name}-`));
  const remove = (): void => {
    // Node leaves the rest without a word if a child that is ending writes into it meanwhile.
    for (let tries = 1; existsSync(folder) && tries <= REMOVALS_MAX; tries += 1) {
      if (tries > 1) Atomics.wait(nothing, 0, 0, REMOVE_AGAIN_MS);
      rmSync(folder, { recursive: true, force: true });
    }
  };
  undoings.add(remove);
  return {
    path: folder,
    [Symbol.dispose]: () => {
      undoings.delete(remove);
      remove();
    },
  };
}

/** Has SIGHUP, SIGINT and SIGTERM end this process as `process.exit` does, with the code that shells give. */
export function exitAtSignals(): void {
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => process.exit(128 + constants.signals[signal]));
}
