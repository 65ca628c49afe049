/**
 * `npm run build`: the program as plain JavaScript in `dist`, with what it needs of its packages inside, but
 * for what is native; and in `package` what is shipped of it. In a checkout `bin/trackport.js` calls it whenever the source has changed.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  globSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = path.join(root, 'dist');
const packages = path.join(root, 'node_modules');

/** Beside the program itself: what its threads run (`entryUrl`). */
export const ENTRIES = [
  'main',
  'adapters/sqlite/writing/thread-main',
  'adapters/threads/check-functions',
  'adapters/threads/spec-functions',
  'adapters/threads/thread-main',
  'compose/body-thread',
];

/** Files of packages that are read at run time (`packageUrl`). */
const PACKAGE_FILES = [
  '@asyncapi/specs/schemas/[23].*-without-$id.json',
  '@fastify/swagger-ui/static/{swagger-ui-bundle.js,swagger-ui.css,favicon-32x32.png}',
  '@seriousme/openapi-schema-validator/schemas/*/schema.json',
];

const UNKNOWN = 'unknown';

/** Many times as long as a build takes. */
const LOCK_WAIT_MS = 300_000;

/** Installed beside the build: native code. */
const INSTALLED = ['better-sqlite3', 'node-addon-api'];
/** Not bundled; `pg` tries the last one and does without. */
const EXTERNAL = [...INSTALLED, 'pg-native'];

/** Builds, unless `dist` is of this very source. */
export async function buildIfChanged() {
  if (!isCurrent()) await alone(async () => isCurrent() || (await build()));
}

function isCurrent() {
  const [builtCommit, builtDigest] = readBuilt();
  const now = commit();
  return builtDigest === sourceDigest() && (now === UNKNOWN || now === builtCommit);
}

/** Of several first starts in a checkout none removes what another runs from. The lock ends with its process. */
async function alone(work) {
  const { default: Database } = await import('better-sqlite3');
  const lock = new Database(`${dist}.lock`, { timeout: LOCK_WAIT_MS });
  try {
    lock.exec('BEGIN EXCLUSIVE');
    await work();
  } finally {
    lock.close();
  }
}

async function build() {
  const { build: bundle } = await import('esbuild');
  const folder = `${dist}.${process.pid}`;
  const state = `${commit()} ${sourceDigest()}`;
  try {
    const { metafile } = await bundle(optionsFor(folder));
    for (const file of globSync(PACKAGE_FILES, { cwd: packages })) {
      cpSync(path.join(packages, file), path.join(folder, 'packages', file));
      addCopy(metafile, `node_modules/${file}`);
    }
    for (const name of INSTALLED) addCopy(metafile, `node_modules/${name}/package.json`);
    writeFileSync(path.join(folder, 'meta.json'), JSON.stringify(metafile));
    writeFileSync(path.join(folder, 'source.txt'), state);
    rmSync(dist, { recursive: true, force: true });
    renameSync(folder, dist);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** So that the list of what is shipped, which is made of the bundler's own, has it, too. */
function addCopy({ inputs, outputs }, file) {
  const bytes = statSync(path.join(root, file)).size;
  inputs[file] = { bytes, imports: [] };
  outputs[`dist/${file}`] = {
    bytes,
    inputs: { [file]: { bytesInOutput: bytes } },
    imports: [],
    exports: [],
  };
}

function optionsFor(outdir) {
  return {
    absWorkingDir: root,
    entryPoints: ENTRIES.map((name) => ({ in: `src/${name}.ts`, out: name.replaceAll('/', '.') })),
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    external: EXTERNAL,
    alias: { '@trackport/client': path.join(root, 'client/src/index.ts') }, // its build need not be there
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
    legalComments: 'none', // `licenses.txt` has them whole
    logLevel: 'warning',
    define: { TRACKPORT_COMMIT: JSON.stringify(commit()) },
    // Packages in CommonJS ask for Node's own modules.
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
    },
  };
}

function readBuilt() {
  try {
    return readFileSync(path.join(dist, 'source.txt'), 'utf8').split(' ');
  } catch {
    return [];
  }
}

/** Of the names, sizes and times of all files that go into the build. */
function sourceDigest() {
  const hash = createHash('sha256');
  const sources = ['{src,sandbox}/**/*.ts', 'client/src/*.ts'];
  const files = [...sources, 'scripts/build.js', 'package.json', 'package-lock.json'];
  for (const file of globSync(files, { cwd: root }).sort()) {
    const { size, mtimeMs } = statSync(path.join(root, file));
    hash.update(`${file} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex');
}

function commit() {
  try {
    const options = { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };
    return execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], options).trim();
  } catch {
    return UNKNOWN; // outside of a repository, or in one of another user
  }
}

if (import.meta.main) {
  await alone(build);
  const { writeNotices } = await import('./notices.js');
  const { makePackage } = await import('./package.js');
  writeNotices();
  makePackage();
}
