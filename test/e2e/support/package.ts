/** The package as somebody installs it who has nothing of the checkout. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { writeNotices } from '../../../scripts/notices.js';
import { makePackage } from '../../../scripts/package.js';

export type Installed = {
  /** The program, for `trackport` and `serve`. */
  program: string;
  /** All files of the package, by their paths in it. */
  files: string[];
  packedBytes: number;
  remove(): void;
};

/** Packs the build as `npm run build` leaves it, and installs that file into an empty folder. */
export function installPackage(): Installed {
  const folder = mkdtempSync(path.join(tmpdir(), 'trackport-package-'));
  writeNotices();
  makePackage();
  const packed = npm(process.cwd(), 'pack', './package', '--json', '--pack-destination', folder);
  const [{ filename, size, files }] = JSON.parse(packed) as [Packed];
  npm(folder, 'install', '--prefer-offline', '--ignore-scripts', path.join(folder, filename));
  return {
    program: path.join(folder, 'node_modules/trackport/bin/trackport.js'),
    files: files.map((file) => file.path),
    packedBytes: size,
    remove: () => rmSync(folder, { recursive: true }),
  };
}

type Packed = { filename: string; size: number; files: { path: string }[] };

function npm(cwd: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`npm ${args[0]}: ${stderr}`);
  return stdout;
}
