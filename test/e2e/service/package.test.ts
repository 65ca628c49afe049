/** Package of `npm pack`, installed into an empty folder: nothing here runs from the checkout. */
import { readdirSync, readFileSync, mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import packageFile from '#package.json' with { type: 'json' };
import { eventually } from '../../support/eventually.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { listening, runTrackport, trackport } from '../support/process.ts';
import { createWorld, listLeads, openLead, sendDeletion, serve } from '../support/world.ts';
import { writeNotices } from '../../../scripts/notices.js';
import { makePackage } from '../../../scripts/package.js';

type Installed = {
  /** The program, for `trackport` and `serve`. */
  program: string;
  /** All files of the package, by their paths in it. */
  files: string[];
  packedBytes: number;
  remove(): void;
};

/** Packs the build as `npm run build` leaves it, and installs that file into an empty folder. */
function installPackage(): Installed {
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

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

let installed: Installed;
beforeAll(() => {
  installed = installPackage();
});
afterAll(() => installed.remove());

test('the package is small, plain JavaScript, and has its licences', () => {
  const { program, files, packedBytes } = installed;
  expect(packedBytes).toBeLessThan(6_000_000);
  const others = files.filter((file) => /\.ts$|^(?:src|test|bench|sandbox|scripts)\//.test(file));
  expect(others).toEqual([]);
  const packages = readdirSync(path.join(path.dirname(program), '../..'));
  expect(packages.filter((name) => !name.startsWith('.'))).toEqual([
    'better-sqlite3',
    'node-addon-api', // what it is compiled with, where no build fits
    'trackport',
  ]);
  const licences = readFileSync(path.join(path.dirname(program), '../dist/licenses.txt'), 'utf8');
  for (const name of ['better-sqlite3', 'fastify', '@asyncapi/specs', 'zod'])
    expect(licences).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+, `, 'm'));
});

test('the package serves leads, takes a deletion, and is backed up', async () => {
  const { program } = installed;
  const { tracker, config, key } = await createWorld();
  const [gone, stays] = ['a', 'b'].map(() => openLead(tracker));
  const { run, url } = await serve(config, { program });
  const { version, commit } = await healthOf(url);
  expect(version).toBe(packageFile.version);
  expect(commit).toMatch(/^[0-9a-f]{12}$|^unknown$/);
  expect(await run.logged('listening')).toMatchObject({ version, commit });

  await eventually(async () => expect(await listLeads(url, key)).toHaveLength(2));
  expect((await sendDeletion(url, gone?.number ?? 0)).status).toBe(202);
  expect(await idsOf(url, key)).toEqual([String(stays?.number)]);

  const command = (...args: string[]) => runTrackport([...args, '--config', config], { program });
  const copy = path.join(temporaryFolder(), 'copy.backup');
  expect(await command('backup', copy)).toMatchObject({ code: 0 });
  expect((await command('--version')).stdout).toBe(`${version} (${commit})\n`);
});

test('the package has the sandbox, too, whose commands are for where it runs', async () => {
  const run = trackport(['sandbox', '--port', '0'], {
    program: installed.program,
    environment: { TMPDIR: temporaryFolder() },
  });
  const url = await listening(run);
  expect(run.stdout()).toContain('npx trackport doctor --config');
  expect(run.stdout()).not.toContain('npm run');
  const [, key = ''] = /(tpk_\w+)/.exec(run.stdout()) ?? [];
  await eventually(async () => expect((await listLeads(url, key)).length).toBeGreaterThan(0));
});

async function healthOf(url: string): Promise<Record<string, string>> {
  return (await (await fetch(`${url}/healthz`)).json()) as Record<string, string>;
}

const idsOf = async (url: string, key: string): Promise<string[]> =>
  (await listLeads(url, key)).map(({ id }) => id);
