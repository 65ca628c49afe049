import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';

/**
 * Makes a folder with all that are missing above it. One by one, because the recursive `mkdirSync`
 * of Node never ends where a file system says ENOENT although the folder above is there, as /proc
 * does. @throws the file system's own errors
 */
export function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(path.dirname(folder));
  try {
    mkdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
