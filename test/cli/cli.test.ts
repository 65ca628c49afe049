import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { type CliHost, runCli } from '#cli/cli.ts';
import { type CommandEntry, type Open, UsageError } from '#cli/command.ts';
import type { MigratedStore } from '#cli/commands/store.ts';
import { ConfigError } from '#config/problems.ts';
import type { Config } from '#config/schema/schema.ts';
import { systemClock } from '#shared/clock.ts';
import { createCommands } from '../../src/command-table.ts';
import { temporaryFolder } from '../support/folder.ts';
import { logOutputTo } from '../support/log-output.ts';

const environment = {
  TRACKPORT_TRACKER_REPOSITORY: 'acme/leads',
  TRACKPORT_TRACKER_AUTH_TOKEN: 't',
};

const commands = createCommands({
  clock: systemClock,
  environment,
  logOutput: logOutputTo(() => {
    throw new Error('a service was started that nobody asked for');
  }),
});

function notAsked(): never {
  throw new Error('a service was opened that the command does not need');
}

/** The command, with what it opens in place of its own services. */
function opening(command: CommandEntry, open: Open<MigratedStore>): CommandEntry {
  return {
    ...command,
    load: async () => {
      const register = await command.load();
      return (below, context) =>
        register(below, { ...context, actionOf: () => context.actionOf(open as Open<never>) });
    },
  };
}

/** Everything of a command line but the process; services that are not given must not be asked. */
function terminalFor(
  { migrate = notAsked }: { migrate?: Open<MigratedStore> } = {},
  deps: Partial<CliHost> = {},
) {
  const output = { out: '', notes: '' };
  const cli: CliHost = {
    version: '1.2.3',
    environment,
    clock: systemClock,
    terminal: {
      print: (text) => {
        output.out += `${text}\n`;
      },
      note: (text) => {
        output.notes += `${text}\n`;
      },
      hasColour: false,
      isInteractive: false,
    },
    commands: commands.map((command) =>
      opening(command, command.name === 'migrate' ? migrate : notAsked),
    ),
    ...deps,
  };
  return { output, run: (...argv: string[]) => runCli(argv, cli) };
}

describe('help', () => {
  test.each(commands.map(({ name, summary }) => [name, summary] as const))(
    '%s --help tells what it does and what every command knows',
    async (name, summary) => {
      const { output, run } = terminalFor();
      await run(name, '--help');
      const text = output.out.replaceAll(/\s+/g, ' ');
      expect(text).toContain(summary);
      expect(text).toContain('--config <file>');
      expect(text).toContain('--json');
      expect(output.notes).toBe('');
    },
  );

  test('--help lists every command', async () => {
    const { output, run } = terminalFor();
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
    const { output, run } = terminalFor();
    await run(...argv);
    expect(output.out).toContain(usage);
    expect(output.out).toContain(option);
    const asked = terminalFor();
    await asked.run(...argv.slice(1), '--help');
    expect(output.out).toBe(asked.output.out);
  });

  test('--version is the version', async () => {
    const { output, run } = terminalFor();
    await run('--version');
    expect(output.out).toBe('1.2.3\n');
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
    const { output, run } = terminalFor();
    await expect(run(...argv)).rejects.toThrow(UsageError);
    expect(output.notes).toContain(message);
    expect(output.out).toBe('');
  });

  test.each([
    [['consumr', '--json'], "unknown command 'consumr' (Did you mean consumer?)"],
    [['--json', 'serve', '--prot', '1'], "unknown option '--prot' (Did you mean --port?)"],
    [['consumer', '--json'], 'A command is needed. See --help.'],
  ])('%j leaves the words to the one who writes JSON', async (argv, message) => {
    const { output, run } = terminalFor();
    await expect(run(...argv)).rejects.toThrow(new UsageError(message));
    expect(output).toEqual({ out: '', notes: '' });
  });

  test('openapi takes --out or --check', async () => {
    await expect(terminalFor().run('openapi', '--out', 'a', '--check', 'b')).rejects.toThrow(
      'Give either --out or --check.',
    );
  });
});

describe('services', () => {
  const opened = (work: () => Promise<never> | Promise<void>) => {
    const seen: { config?: Config; closed: number } = { closed: 0 };
    const migrate: Open<MigratedStore> = async (config) => {
      seen.config = config;
      await work();
      return {
        services: { applied: [], present: ['0001_access'] },
        close: async () => {
          seen.closed += 1;
        },
      };
    };
    return { seen, migrate };
  };

  test('are opened with the configuration that --config names, and closed', async () => {
    const { seen, migrate } = opened(() => Promise.resolve());
    const file = path.join(temporaryFolder(), 'trackport.yaml');
    writeFileSync(file, 'leads: { approvedLabel: from-the-file }');
    const { output, run } = terminalFor({ migrate });

    await run('--json', 'migrate', '--config', file);

    expect(seen.config?.leads.approvedLabel).toBe('from-the-file');
    expect(seen.closed).toBe(1);
    expect(JSON.parse(output.out)).toEqual({ applied: [], present: ['0001_access'] });
  });

  test('are closed when the work fails', async () => {
    const { seen, migrate } = opened(() => Promise.resolve());
    const terminal = terminalFor({ migrate });
    const broken = terminalFor(
      { migrate },
      {
        terminal: {
          print: () => {
            throw new Error('no paper');
          },
          note: () => undefined,
          hasColour: false,
          isInteractive: false,
        },
      },
    );
    await expect(broken.run('migrate')).rejects.toThrow('no paper');
    expect(seen.closed).toBe(1);
    await terminal.run('migrate');
    expect(seen.closed).toBe(2);
  });

  test('are not opened with a configuration that has problems', async () => {
    const { run } = terminalFor({}, { environment: {} });
    await expect(run('migrate')).rejects.toThrow(ConfigError);
  });
});

test('the variable TRACKPORT_CONFIG names the file, --config wins over it', async () => {
  const folder = temporaryFolder();
  const files = ['one', 'two'].map((name) => {
    const file = path.join(folder, `${name}.yaml`);
    writeFileSync(file, `leads: { approvedLabel: ${name} }`);
    return file;
  });
  const labels: string[] = [];
  const migrate: Open<MigratedStore> = async ({ leads }) => {
    labels.push(leads.approvedLabel);
    return { services: { applied: [], present: [] }, close: async () => undefined };
  };
  const named = { ...environment, TRACKPORT_CONFIG: String(files[0]) };
  const { run } = terminalFor({ migrate }, { environment: named });
  await run('migrate');
  await run('migrate', '--config', String(files[1]));
  expect(labels).toEqual(['one', 'two']);
});
