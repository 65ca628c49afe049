import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { commands } from '#cli/cli.ts';
import { UsageError } from '#cli/command.ts';
import type { Environment } from '#config/environment.ts';
import { ConfigError } from '#config/problems.ts';
import { systemClock } from '#shared/clock.ts';
import { VERSION_AND_COMMIT } from '#shared/program.ts';
import { runCommand } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { emptyPostgres, onServer } from '../support/postgres/database.ts';

const environment = {
  TRACKPORT_TRACKER_REPOSITORY: 'acme/leads',
  TRACKPORT_TRACKER_AUTH_TOKEN: 't',
};

const KEY = randomBytes(32).toString('base64');

/** Of a command line on a configuration that names no file. */
function terminal(variables: Environment = environment) {
  const output = { out: '', notes: '' };
  const run = (...argv: string[]) =>
    runCommand(argv, { clock: systemClock, environment: variables, output });
  return { output, run };
}

/** A configuration with a store of its own, which no command has opened yet. */
function configured() {
  const folder = temporaryFolder();
  const store = path.join(folder, 'trackport.db');
  const file = path.join(folder, 'trackport.yaml');
  writeFileSync(file, `store: { url: 'sqlite:${store}' }`);
  return { store, file };
}

describe('help', () => {
  test.each(commands.map(({ name, summary }) => [name, summary] as const))(
    '%s --help tells what it does and what every command knows',
    async (name, summary) => {
      const { output, run } = terminal();
      await run(name, '--help');
      const text = output.out.replaceAll(/\s+/g, ' ');
      expect(text).toContain(summary);
      expect(text).toContain('--config <file>');
      expect(text).toContain('--json');
      expect(output.notes).toBe('');
    },
  );

  test('--help lists every command', async () => {
    const { output, run } = terminal();
    await run('--help');
    for (const { name } of commands) expect(output.out).toMatch(new RegExp(`^  ${name} `, 'm'));
  });

  test.each([
    [
      ['help', 'consumer'],
      'Usage: trackport consumer [options] [command]',
      'create [options] <name>',
    ],
    [['help', 'consumer', 'create'], 'Usage: trackport consumer create', '--expires <when>'],
    [['help'], 'Usage: trackport [options] [command]', 'Examples:'],
  ])('%j is the same as --help', async (argv, usage, option) => {
    const { output, run } = terminal();
    await run(...argv);
    expect(output.out).toContain(usage);
    expect(output.out).toContain(option);
    const asked = terminal();
    await asked.run(...argv.slice(1), '--help');
    expect(output.out).toBe(asked.output.out);
  });

  test('--version is the version', async () => {
    const { output, run } = terminal();
    await run('--version');
    expect(output.out).toBe(`${VERSION_AND_COMMIT}\n`);
  });
});

describe('a wrong command line is a usage error that says what was meant', () => {
  test.each([
    [['consumr'], 'Did you mean consumer?'],
    [['consumer', 'lst'], 'Did you mean list?'],
    [['serve', '--prot', '1'], 'Did you mean --port?'],
    [['consumer', 'create'], "missing required argument 'name'"],
    [['migrate', 'now'], 'too many arguments'],
    [[], 'Usage: trackport'],
  ])('%j', async (argv, message) => {
    const { output, run } = terminal();
    await expect(run(...argv)).rejects.toThrow(UsageError);
    expect(output.notes).toContain(message);
    expect(output.out).toBe('');
  });

  test.each([
    [['consumr', '--json'], "unknown command 'consumr' (Did you mean consumer?)"],
    [['--json', 'serve', '--prot', '1'], "unknown option '--prot' (Did you mean --port?)"],
    [['consumer', '--json'], 'A command is needed. See --help.'],
  ])('%j leaves the words to the one who writes JSON', async (argv, message) => {
    const { output, run } = terminal();
    await expect(run(...argv)).rejects.toThrow(new UsageError(message));
    expect(output).toEqual({ out: '', notes: '' });
  });

  test('openapi takes --out or --check', async () => {
    await expect(terminal().run('openapi', '--out', 'a', '--check', 'b')).rejects.toThrow(
      'Give either --out or --check.',
    );
  });
});

describe('the store', () => {
  test('is that of the configuration that --config names, and is closed', async () => {
    const { store, file } = configured();
    const { output, run } = terminal();
    await run('--json', 'migrate', '--config', file);
    expect(JSON.parse(output.out)).toMatchObject({
      applied: expect.arrayContaining(['0001_store']),
    });
    expect(existsSync(store)).toBe(true);
    expect(existsSync(`${store}-wal`)).toBe(false);
  });

  test('is closed when the work fails', async () => {
    const { store, file } = configured();
    const { run } = terminal();
    await run('migrate', '--config', file);
    await expect(run('claim', 'show', '12', '--config', file)).rejects.toThrow('not claimed');
    expect(existsSync(store)).toBe(true);
    expect(existsSync(`${store}-wal`)).toBe(false);
  });

  const looks = [
    ['claim', 'list'],
    ['receipt', 'list'],
    ['consumer', 'list'],
    ['audit', 'list'],
    ['claim', 'release', '12'],
  ];
  test.each(looks)('is not made by %s %s', async (...command) => {
    const { store, file } = configured();
    const said = /^There is no store .*trackport\.db\. `trackport serve` or/;
    await expect(terminal().run(...command, '--config', file)).rejects.toThrow(said);
    expect(readdirSync(path.dirname(store))).toEqual([path.basename(file)]);
  });

  test('is not said to be missing where its log is, or where nobody can look', async () => {
    const { store, file } = configured();
    const list = () => terminal().run('claim', 'list', '--config', file);
    writeFileSync(`${store}-wal`, 'of a store that was moved away');
    await expect(list()).rejects.toThrow(/but its log \(-wal\) is: put it back/);
    rmSync(`${store}-wal`);
    symlinkSync(store, store); // as in a folder that cannot be entered, which root can
    await expect(list()).rejects.toThrow(/cannot be used: The store cannot be opened. \(ELOOP\)/);
  });

  test('is not made in a database of PostgreSQL either', async () => {
    const { url } = await emptyPostgres();
    const { run } = terminal({
      ...environment,
      TRACKPORT_STORE_URL: url,
      TRACKPORT_SECRET_KEY: KEY,
    });
    await expect(run('claim', 'list')).rejects.toThrow(/^There is no store postgres:/);
    const tables = "SELECT 1 FROM pg_tables WHERE schemaname = 'public'";
    expect(await onServer(url, tables)).toEqual([]);
    await run('migrate');
    await run('claim', 'list');
    await onServer(url, 'ALTER SCHEMA public RENAME TO away');
    await onServer(url, 'CREATE SCHEMA public');
    await expect(run('claim', 'list')).rejects.toThrow(/in the schema away, which is not in the/);
  });

  test('is not made by a dry run', async () => {
    const { store, file } = configured();
    appendFileSync(file, "\npartners: { crm-one: { scheme: hmac-sha256, secrets: ['s'] } }");
    const options = ['--partner', 'crm-one', '--path', 'deletions', '--dry-run', '--config', file];
    const importing = terminal().run('receipt', 'import', file, ...options);
    await expect(importing).rejects.toThrow(/^There is no store/);
    expect(existsSync(store)).toBe(false);
  });

  test('is not opened with a configuration that has problems', async () => {
    const { store, file } = configured();
    await expect(terminal({}).run('migrate', '--config', file)).rejects.toThrow(ConfigError);
    expect(existsSync(store)).toBe(false);
  });

  test('is not opened for help, nor for a wrong argument', async () => {
    const { store, file } = configured();
    const { run } = terminal();
    await run('migrate', '--help', '--config', file);
    await expect(run('migrate', 'now', '--config', file)).rejects.toThrow(UsageError);
    expect(existsSync(store)).toBe(false);
  });
});

test('the variable TRACKPORT_CONFIG names the file, --config wins over it', async () => {
  const [one, two] = [configured(), configured()];
  const { run } = terminal({ ...environment, TRACKPORT_CONFIG: one.file });
  await run('migrate', '--config', two.file);
  expect([existsSync(one.store), existsSync(two.store)]).toEqual([false, true]);
  await run('migrate');
  expect(existsSync(one.store)).toBe(true);
});
