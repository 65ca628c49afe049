/** Finds the program's own files: beside its build in `dist`, or, in unit tests, beside its source. */
import { existsSync } from 'node:fs';
import packageFile from '#package.json' with { type: 'json' };

/** The commit that was built, 12 digits; `scripts/build.js` puts it here. */
declare const TRACKPORT_COMMIT: string | undefined;

const isBuilt = typeof TRACKPORT_COMMIT === 'string';

export const { version: VERSION } = packageFile;
/** `source` where nothing was built, `unknown` where it was built outside of a repository. */
export const COMMIT = isBuilt ? TRACKPORT_COMMIT : 'source';
/** Such as `0.3.0 (831b28d3a1c2)`. */
export const VERSION_AND_COMMIT = `${VERSION} (${COMMIT})`;

/** A file or folder by its path in the package, such as `migrations/sqlite/`. */
export function programUrl(path: string): URL {
  return new URL(path, new URL(isBuilt ? '../' : '../../', import.meta.url));
}

/** True in a checkout; an installation has no source. */
export const IS_CHECKOUT = existsSync(programUrl('scripts/build.js'));
/** Command line that calls it where it runs, for texts to paste. */
export const PROGRAM_COMMAND = IS_CHECKOUT ? 'npm run -s trackport --' : 'npx trackport';

/** The build of what a thread or a child process runs, by its path below `src` without ending: see `scripts/build.js`. */
export function entryUrl(module: string): URL {
  return programUrl(`dist/${module.replaceAll('/', '.')}.js`);
}

/** A file of a package, which is read at run time: the build has a copy of it. */
export function packageUrl(file: string): URL {
  return isBuilt ? programUrl(`dist/packages/${file}`) : programUrl(`node_modules/${file}`);
}
