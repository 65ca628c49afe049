import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../support/folder.ts';
import { programFile } from '../../support/program.ts';
import { runHere } from '../support/command.ts';
import { configFile, runTrackport, trackport } from '../support/process.ts';

const tracker = { repository: 'acme/leads', auth: { token: 't' } };

test('a long result reaches a slow reader whole', async () => {
  const file = path.join(temporaryFolder(), 'openapi.json');
  expect((await runTrackport(['openapi', '--out', file])).code).toBe(0);
  const slow = trackport(['openapi']);
  slow.child.stdout?.pause();
  await new Promise((resolve) => void slow.child.stdout?.once('readable', resolve));
  slow.child.stdout?.resume();
  expect(await slow.exited).toBe(0);
  expect(slow.stdout() === readFileSync(file, 'utf8')).toBe(true); // too long for a difference
});

test.runIf(existsSync('/dev/full'))(
  'a result that cannot be written is a failure that is told',
  () => {
    const full = openSync('/dev/full', 'w');
    const end = spawnSync(process.execPath, [programFile(), 'openapi'], {
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    });
    closeSync(full);
    expect(end.status).toBe(1);
    expect(end.stderr).toBe('The result cannot be written (ENOSPC).\n');
  },
);

test('openapi --out says why a file cannot be written', async () => {
  const { code, stderr } = await runHere(['openapi', '--out', '/not/there/openapi.json']);
  expect(code).toBe(1);
  expect(stderr).toBe('/not/there/openapi.json cannot be written (ENOENT).\n');
});

test('openapi --check tells by its exit code whether a file is the interface', async () => {
  const file = path.join(temporaryFolder(), 'openapi.json');
  const missing = await runHere(['openapi', '--check', file]);
  expect(missing.code).toBe(1);
  expect(missing.stderr).toContain(`${file} cannot be read (ENOENT).`);
  writeFileSync(file, '{}');
  const other = await runHere(['openapi', '--check', file]);
  expect(other.code).toBe(1);
  expect(other.stderr).toContain('differs from the routes');
  await runHere(['openapi', '--out', file]);
  expect(await runHere(['openapi', '--check', file])).toMatchObject({ code: 0, stderr: '' });
});

test('migrate brings a new store up to date, and then finds nothing to do', async () => {
  const store = path.join(temporaryFolder(), 'new', 'trackport.db');
  const config = configFile({ tracker, store: { url: `sqlite:${store}` } });
  const first = await runHere(['migrate', '--json', '--config', config]);
  const { applied, present } = JSON.parse(first.stdout) as Record<string, string[]>;
  expect(applied).toContain('0001_store');
  expect(present).toEqual(applied);
  const second = await runHere(['migrate', '--config', config]);
  expect(second.stdout).toBe(`The store is up to date (${applied?.length} migrations).\n`);
});

test('doctor exits 1 when something failed, and says what to do', async () => {
  const store = path.join(temporaryFolder(), 'trackport.db');
  const config = configFile({
    tracker: { ...tracker, apiUrl: 'http://127.0.0.1:1' },
    store: { url: `sqlite:${store}` },
  });
  const table = await runHere(['doctor', '--config', config]);
  expect(table.code).toBe(1);
  expect(table.stdout).toMatch(/^failed +tracker http:\/\/127\.0\.0\.1:1 +The tracker cannot be/m);
  expect(table.stdout).toContain('What to do:\n');
  const json = await runHere(['doctor', '--json', '--config', config]);
  expect(json.code).toBe(1);
  expect(JSON.parse(json.stdout)).toMatchObject({ ok: false, findings: expect.any(Array) });
});

test('a wrong command line exits 2 and points to the help', async () => {
  const { code, stdout, stderr } = await runTrackport(['consumr']);
  expect(code).toBe(2);
  expect(stdout).toBe('');
  expect(stderr).toContain('See --help.');
});

test('with --json every failure is one JSON document on standard error', async () => {
  const store = path.join(temporaryFolder(), 'trackport.db');
  const config = configFile({ tracker, store: { url: `sqlite:${store}` } });
  expect(await runHere(['migrate', '--config', config])).toMatchObject({ code: 0 });
  const failed = async (...args: string[]) => {
    const { code, stdout, stderr } = await runHere(args);
    expect(stdout).toBe('');
    return { exit: code, ...(JSON.parse(stderr) as object) };
  };
  expect(await failed('consumer', 'show', 'nope', '--json', '--config', config)).toEqual({
    exit: 1,
    error: { code: 'not-found', detail: expect.stringContaining('consumer') },
  });
  expect(await failed('claim', 'release', '1', '--json', '--config', config)).toMatchObject({
    exit: 1,
    error: { code: 'not-found', detail: 'Lead 1 is not claimed.' },
  });
  expect(await failed('claim', 'release', 'one', '--json', '--config', config)).toMatchObject({
    exit: 2,
    error: { code: 'usage' },
  });
  expect(await failed('consumr', '--json')).toMatchObject({ exit: 2, error: { code: 'usage' } });
  expect(await failed('doctor', '--json', '--config', configFile({ leads: 1 }))).toMatchObject({
    exit: 2,
    error: {
      code: 'invalid-configuration',
      problems: expect.arrayContaining([
        { path: 'leads', found: '1', allowed: 'a section with keys' },
      ]),
    },
  });
});
