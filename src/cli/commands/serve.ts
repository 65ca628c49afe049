import { isatty } from 'node:tty';
import type { Command } from 'commander';
import type { Config } from '#config/schema/schema.ts';
import type { Clock } from '#shared/clock.ts';
import { type CommandContext, type ConfigOptions, type Register, UsageError } from '../command.ts';

/** Something that runs until it is stopped. */
type Running = {
  stop(): Promise<void>;
  /** Reads the configuration again. Never throws: the log says what came of it. */
  reload(): void;
};

export type ServeServices = {
  /** Starts the real service. `load` reads the configuration, now and for each reload. */
  service(load: () => Config): Promise<Running>;
  /** Starts the sandbox. `print` gets the commands to paste once everything listens. */
  sandbox(request: { port: string | undefined; print: (text: string) => void }): Promise<Running>;
};

type ServeContext = CommandContext<{ serve: ServeServices }>;

/** `serve`: the real thing with a configuration, the sandbox without one. */
export const registerServe: Register<{ serve: ServeServices }> = (command, context) => {
  command
    .option('--port <port>', 'the port to listen on; 0 picks a free one')
    .option('--processes <count>', 'how many processes serve it together (default: 1)')
    .addHelpText('after', '\nWithout --config it starts the sandbox, which needs nothing at all.')
    .action((_options: unknown, self: Command) => {
      const options = self.optsWithGlobals<ConfigOptions>();
      if (context.configFile(options) !== undefined)
        return runUntilStopped(context, () =>
          context.services.serve.service(() => context.loadConfig(options)),
        );
      if (options.processes !== undefined)
        throw new UsageError('The sandbox is one process: --processes needs --config.');
      return runSandbox(context, options);
    });
};

/** `sandbox`: everything on this machine, with sample leads. */
export const registerSandbox: Register<{ serve: ServeServices }> = (command, context) => {
  command
    .option('--port <port>', 'the port to listen on; 0 picks a free one')
    .action((_options: unknown, self: Command) => {
      const options = self.optsWithGlobals<ConfigOptions>();
      if (options.config !== undefined)
        throw new UsageError('The sandbox takes no --config; use serve for the real thing.');
      return runSandbox(context, options);
    });
};

function runSandbox(context: ServeContext, { port }: ConfigOptions): Promise<void> {
  const { services, terminal } = context;
  return runUntilStopped(context, () =>
    services.serve.sandbox({ port, print: (text) => terminal.print(text) }),
  );
}

/** A signal that comes during the start waits for its end, and then goes to what was started. */
async function runUntilStopped(
  { clock }: ServeContext,
  start: () => Promise<Running>,
): Promise<void> {
  const stopSignal = nextStopSignal(clock);
  const hangups = listenForHangups(clock);
  const running = await start();
  hangups.reloadWith(() => running.reload());
  await Promise.race([stopSignal, hangups.terminalGone]);
  await running.stop();
}

/** npm, a shell and our own launcher each pass one signal on: it counts once. */
const SAME_SIGNAL_MS = 100;

/**
 * Resolves at the first SIGINT or SIGTERM. A second one, which is a person losing patience, ends
 * the process at once with exit code 1.
 */
function nextStopSignal(clock: Pick<Clock, 'monotonicMs'>): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let firstAt: number | undefined;
    const onSignal = (signal: NodeJS.Signals): void => {
      if (firstAt === undefined) {
        firstAt = clock.monotonicMs();
        resolve(signal);
      } else if (clock.monotonicMs() - firstAt >= SAME_SIGNAL_MS) {
        process.exit(1);
      }
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
  });
}

type Hangups = {
  /** What a SIGHUP calls from now on; at once when one came already. */
  reloadWith(reload: () => void): void;
  /**
   * Resolves when a signal comes because the terminal is gone that the process was started from:
   * then it is to end, for nobody is left who could end it.
   */
  terminalGone: Promise<void>;
};

const STANDARD_INPUT = 0;

/** SIGHUP would end the process; here it starts a reload. */
function listenForHangups(clock: Pick<Clock, 'sleep'>): Hangups {
  const hadTerminal = isatty(STANDARD_INPUT);
  let reload: (() => void) | undefined;
  let isDue = false;
  const reloadWhenDue = (): void => {
    if (!isDue || reload === undefined) return;
    isDue = false;
    reload();
  };
  const terminalGone = new Promise<void>((resolve) => {
    process.on('SIGHUP', () => {
      if (hadTerminal && !isatty(STANDARD_INPUT)) {
        resolve();
        return;
      }
      isDue = true;
      // What is read after the wait serves every signal that came before its end.
      void clock.sleep(SAME_SIGNAL_MS, { unref: true }).then(reloadWhenDue);
    });
  });
  return {
    terminalGone,
    reloadWith: (given) => {
      reload = given;
      reloadWhenDue();
    },
  };
}
