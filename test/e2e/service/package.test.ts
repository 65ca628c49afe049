/** What `npm pack` gives, installed into an empty folder: nothing here runs from the checkout. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import packageFile from '#package.json' with { type: 'json' };
import { eventually } from '../../support/eventually.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { openOldStore, SECRET_KEY } from '../support/old-stores.ts';
import { type Installed, installPackage } from '../support/package.ts';
import { listening, runTrackport, trackport } from '../support/process.ts';
import {
  createWorld,
  crmOne,
  deletionOf,
  environment,
  listLeads,
  openLead,
  sendDeletion,
  serve,
} from '../support/world.ts';

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
  const { tracker, config, key } = await createWorld({ partners: { 'crm-one': crmOne } });
  const [gone, stays] = ['a', 'b'].map(() => openLead(tracker));
  const { run, url } = await serve(config, { program });
  const { version, commit } = await healthOf(url);
  expect(version).toBe(packageFile.version);
  expect(commit).toMatch(/^[0-9a-f]{12}$|^unknown$/);
  expect(await run.logged('listening')).toMatchObject({ version, commit });

  await eventually(async () => expect(await listLeads(url, key)).toHaveLength(2));
  expect((await sendDeletion(url, deletionOf(gone?.number ?? 0))).status).toBe(202);
  expect(await idsOf(url, key)).toEqual([String(stays?.number)]);

  const command = (...args: string[]) =>
    runTrackport([...args, '--config', config], { environment, program });
  const copy = path.join(temporaryFolder(), 'copy.backup');
  expect(await command('backup', copy)).toMatchObject({ code: 0 });
  expect((await command('--version')).stdout).toBe(`${version} (${commit})\n`);
});

test('the package has the sandbox, too', async () => {
  const run = trackport(['sandbox', '--port', '0'], {
    program: installed.program,
    environment: { TMPDIR: temporaryFolder() },
  });
  const url = await listening(run);
  const [, key = ''] = /(tpk_\w+)/.exec(run.stdout()) ?? [];
  await eventually(async () => expect((await listLeads(url, key)).length).toBeGreaterThan(0));
});

test.each(['dc0439d.sqlite', '2f91e6c0.sqlite', '2f91e6c0.postgres'])(
  'the package takes over the store that %s left, and nothing is lost',
  async (name) => {
    const { program } = installed;
    const { storeUrl, key } = await openOldStore(name);
    const { tracker, config } = await createWorld({
      partners: { 'crm-one': crmOne },
      secretKey: SECRET_KEY,
    });
    const settings = JSON.parse(readFileSync(config, 'utf8')) as object;
    writeFileSync(config, JSON.stringify({ ...settings, store: { url: storeUrl } }));
    for (const lead of ['a', 'b', 'c', 'd']) openLead(tracker, { email: `${lead}@example.org` });
    const late = openLead(tracker, { email: 'later@example.org' });
    const command = (...args: string[]) =>
      runTrackport([...args, '--json', '--config', config], { environment, program });

    expect((await command('migrate')).code).toBe(0);
    const { url } = await serve(config, { program });
    await eventually(async () => expect(await idsOf(url, key)).toEqual(['4', '3']));
    await eventually(() => expect(tracker.readIssue(late.number)?.state).toBe('closed'));
    const { items } = JSON.parse((await command('receipt', 'list')).stdout) as {
      items: { status: string }[];
    };
    expect(items.map(({ status }) => status)).toEqual(['PROCESSED', 'PROCESSED', 'PROCESSED']);
    const orders = path.join(temporaryFolder(), 'orders.yaml');
    writeFileSync(orders, 'id: orders\ntype: PRODUCT\nowner: shop\ntitle: Orders\n');
    expect((await command('catalog', 'import', orders)).stdout).toContain('"unchanged"');
  },
);

async function healthOf(url: string): Promise<Record<string, string>> {
  return (await (await fetch(`${url}/healthz`)).json()) as Record<string, string>;
}

const idsOf = async (url: string, key: string): Promise<string[]> =>
  (await listLeads(url, key)).map(({ id }) => id);
