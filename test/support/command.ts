import { Command } from 'commander';
import type { CommandContext, Open, Register } from '#cli/command.ts';
import type { Environment } from '#config/interpolate.ts';
import type { Config } from '#config/schema/schema.ts';
import type { Clock } from '#shared/clock.ts';

/** Output of a command, and what it has noted beside that. */
export type Output = { out: string; notes: string };

type Run<Services> = {
  /** Below the family, such as `['list']`. */
  args: readonly string[];
  services: Services;
  clock: Clock;
  json?: boolean;
  hasColour?: boolean;
  isInteractive?: boolean;
  /** A person at the terminal, who gets the question. Default: nobody. */
  ask?: (question: string) => string;
  /** Default: nothing is set. */
  environment?: Environment;
  /** Gets the text also when the command fails; default: a new one. */
  output?: Output;
};

/** Runs one command of a family as the command line does; what the command throws is thrown. */
export async function runCommand<Services>(
  register: Register<Open<Services>>,
  run: Run<Services>,
): Promise<Output> {
  const {
    args,
    services,
    clock,
    json = false,
    hasColour = false,
    isInteractive = false,
    ask,
    environment = {},
  } = run;
  const { output = { out: '', notes: '' } } = run;
  const terminal = {
    print: (text: string) => void (output.out += `${text}\n`),
    note: (text: string) => void (output.notes += `${text}\n`),
    hasColour,
    isInteractive,
    ...(ask && { ask: async (question: string) => ask(question) }),
  };
  const actor = { kind: 'cli' as const, subject: 'operator' };
  const config = {} as Config;
  const context: CommandContext<Open<Services>> = {
    terminal,
    clock,
    environment,
    loadConfig: () => config,
    configFile: () => undefined,
    services: async () => ({ services, close: async () => undefined }),
    actionOf:
      (open) =>
      (work) =>
      async (...received) => {
        const command = received.at(-1) as Command;
        const base = { ...(await open(config)), config, terminal, clock, actor, isJson: json };
        await work({ ...base, args: command.args, options: command.opts<never>() });
      },
  };
  const program = new Command()
    .option('--config <file>')
    .option('--json')
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  register(program.command('family'), context);
  const argv = ['family', ...args, ...(json ? ['--json'] : [])];
  await program.parseAsync(argv, { from: 'user' });
  return output;
}
