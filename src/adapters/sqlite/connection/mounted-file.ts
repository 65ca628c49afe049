import { readFileSync, realpathSync } from 'node:fs';
import { TrackportError } from '#shared/errors.ts';

/**
 * Refuses a file that is mounted by itself (`docker run -v ./store.db:/data/store.db`). SQLite's log lies
 * beside it, on another file system: it would end with the container, and what it had acknowledged with
 * it; and two containers with such a mount would each have a log of their own, and not see each other's
 * claims. `mounts` is the text of Linux's `mountinfo`.
 * @throws {store-unavailable}
 */
export function refuseMountedFile(file: string, mounts = readMounts()): void {
  if (!mountPoints(mounts).has(realpathSync(file))) return;
  throw new TrackportError('store-unavailable', {
    detail: 'The file is mounted by itself. Mount its folder: the log of the store lies beside it.',
  });
}

/** Nothing where there is no such list: then nothing is known. */
function readMounts(): string {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8');
  } catch {
    return '';
  }
}

/** The fifth field of each line; blanks, tabs, line breaks and backslashes stand there in octal digits. */
function mountPoints(mounts: string): Set<string | undefined> {
  return new Set(
    mounts
      .split('\n')
      .map((line) =>
        line
          .split(' ', 5)[4]
          ?.replaceAll(/\\([0-7]{3})/g, (_, digits: string) =>
            String.fromCharCode(Number.parseInt(digits, 8)),
          ),
      ),
  );
}
