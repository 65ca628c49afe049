import { isatty } from 'node:tty';
import type { Command } from 'commander';
import { type Clock, MINUTE } from '#shared/clock.ts';
import { IS_CHECKOUT, PROGRAM_COMMAND } from '#shared/program.ts';
import {
  type ConfigOptions,
  durationOption,
  numberOption,
  type Register,
  type RunContext,
  UsageError,
} from '../command.ts';

/** Something that listens, until it is stopped. */
type Running = {
  stop(): Promise<void>;
  /** Reads the configuration again. Never throws: the log says what came of it. */
  reload(): void;
};

/** `serve`: the real thing with a configuration; in a checkout the sandbox without one. */
export const registerServe: Register = (command, context) => {
  command
    .option('--port <port>', 'the port to listen on; 0 picks a free one')
    .addHelpText(
      'after',
      '\nWithout a configuration use trackport sandbox, as npm start does in a checkout.',
    )
    .action((_options: unknown, self: Command) => {
      const options = self.optsWithGlobals<ConfigOptions>();
      if (context.configFile(options) !== undefined)
        return runUntilStopped(context, async (stopping) => {
          const { startConfigured } = await import('#compose/service.ts');
          return startConfigured(context, () => context.loadConfig(options), stopping);
        });
      if (!IS_CHECKOUT)
        throw new UsageError(
          `serve needs a configuration: --config FILE, or the variable TRACKPORT_CONFIG. Without one, to try it: ${PROGRAM_COMMAND} sandbox`,
        );
      return runSandbox(context, options);
    });
};

type SandboxOptions = ConfigOptions & {
  trackerOnly?: boolean;
  issues?: string;
  latency: string;
  quota: string;
  webhook: string | false;
};

const TRACKER_PORT = '8081';
const SERVICE_URL = 'http://127.0.0.1:8080/api/v1/webhooks/github';
const TRACKER_ONLY_HELP = `
With --tracker-only it prints a configuration to begin with. Its port is
${TRACKER_PORT} unless another is given; credentials are the same at each start.`;

/** `sandbox`: everything on this machine, with sample leads; or its tracker alone. */
export const registerSandbox: Register = (command, context) => {
  command
    .option('--port <port>', 'the port to listen on; 0 picks a free one')
    .option('--tracker-only', 'start its tracker alone, to try a configuration of your own')
    .option('--issues <count>', 'with it: so many issues in place of the sample leads')
    .option('--latency <duration>', 'with it: what every response takes at least', '0s')
    .option('--quota <calls>', 'with it: calls an hour', '5000')
    .option('--webhook <url>', 'with it: where it tells of changes', SERVICE_URL)
    .option('--no-webhook', 'with it: it tells nobody of changes')
    .addHelpText('after', TRACKER_ONLY_HELP)
    .action((_options: unknown, self: Command) => {
      const options = self.optsWithGlobals<SandboxOptions>();
      if (options.config !== undefined)
        throw new UsageError('The sandbox takes no --config; use serve for the real thing.');
      if (options.trackerOnly) return runTrackerOnly(context, options);
      const misplaced = ['issues', 'latency', 'quota', 'webhook'].find(
        (name) => self.getOptionValueSource(name) === 'cli',
      );
      if (misplaced !== undefined) throw new UsageError(`--${misplaced} goes with --tracker-only.`);
      return runSandbox(context, options);
    });
};

const PORT_MAX = 65_535;

function runTrackerOnly(context: RunContext, options: SandboxOptions): Promise<void> {
  const { port: typed = TRACKER_PORT, issues, latency, quota, webhook } = options;
  const port = numberOption('--port', typed);
  if (port > PORT_MAX) throw new UsageError(`--port takes a number up to ${PORT_MAX}, not ${port}`);
  if (webhook !== false && !/^https?:$/.test(URL.parse(webhook)?.protocol ?? ''))
    throw new UsageError(`--webhook takes an http(s) address, not "${webhook}"`);
  const latencyMs = durationOption('--latency', latency);
  if (latencyMs > MINUTE) throw new UsageError(`--latency takes up to 1m, not "${latency}"`);
  const request = {
    port,
    ...(issues !== undefined && { issues: numberOption('--issues', issues) }),
    latencyMs,
    quota: numberOption('--quota', quota),
    ...(webhook !== false && { webhookUrl: webhook }),
    print: (text: string) => context.terminal.print(text.trimEnd()),
  };
  return runUntilStopped(context, async () => {
    const { startSandboxTracker } = await import('#compose/sandbox.ts');
    return startSandboxTracker(context, request);
  });
}

function runSandbox(context: RunContext, { port }: ConfigOptions): Promise<void> {
  const print = (text: string): void => context.terminal.print(text);
  return runUntilStopped(context, async (stopping) => {
    const { startSandboxService } = await import('#compose/sandbox.ts');
    return startSandboxService(context, { port, print, stopping });
  });
}

/** Starts, waits for SIGINT or SIGTERM, stops. A signal that comes during the start ends it. */
async function runUntilStopped(
  { clock }: RunContext,
  start: (stopping: AbortSignal) => Promise<Running>,
): Promise<void> {
  const stopping = new AbortController();
  const hangups = listenForHangups(clock);
  const stopSignal = Promise.race([nextStopSignal(clock), hangups.terminalGone]);
  void stopSignal.then(() => stopping.abort(new Stopped()));
  try {
    const running = await start(stopping.signal);
    hangups.reloadWith(() => running.reload());
    await stopSignal;
    hangups.reloadWith(() => undefined); // what stops takes nothing over
    await running.stop();
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
  }
}

/** Ends a start: nothing listens yet. */
class Stopped extends Error {}

/** npm and a shell each pass one signal on: it counts once, to stop as to reload. */
const SAME_SIGNAL_MS = 100;

/**
 * Resolves at the first SIGINT or SIGTERM. A second one, which is a person losing patience, ends
 * the process at once with exit code 1.
 */
function nextStopSignal(clock: Clock): Promise<NodeJS.Signals> {
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
  /** A SIGHUP calls it from now on; at once when one came already. */
  reloadWith(reload: () => void): void;
  /**
   * Resolves when a signal comes because the terminal is gone that the process was started from:
   * then it is to end, for nobody is left who could end it.
   */
  terminalGone: Promise<void>;
};

const STANDARD_INPUT = 0;

/** SIGHUP would end the process; here it starts a reload. */
function listenForHangups(clock: Clock): Hangups {
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
      // One read after the wait serves every signal that came before its end.
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
