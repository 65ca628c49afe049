import type { Command } from 'commander';
import { serverUrl } from '#config/schema/schema.ts';
import { SECOND } from '#shared/clock.ts';
import { systemCodeOf } from '#shared/errors.ts';
import {
  CommandFailure,
  type ConfigOptions,
  durationOption,
  printJson,
  type Register,
  UsageError,
} from '../command.ts';

const RESPONSE_MS_MAX = 3 * SECOND;
const PAUSE_MS = SECOND / 4;

type Options = ConfigOptions & { ready?: true; wait: string };

/** `health`: asks the running service where the configuration says that it tells, for who (re)starts it. */
export const registerHealth: Register = (command, context) => {
  command
    .option('--ready', 'ask /readyz, whether it can serve, in place of /healthz')
    .option('--wait <duration>', 'ask again for so long before giving up', '0s')
    .option('--port <port>', 'the port, where serve has a --port')
    .addHelpText('after', '\nExit code 0 when it is well, 1 when it is not, or does not answer.')
    .action(async (_options: unknown, self: Command) => {
      const { terminal, clock } = context;
      const options = self.optsWithGlobals<Options>();
      const { host, port, opsPort = port } = context.loadConfig(options).server;
      if (opsPort === 0) throw new UsageError('The port is 0, a free one: name it by --port.');
      const url = `${serverUrl({ host, port: opsPort })}${options.ready ? '/readyz' : '/healthz'}`;
      const until = clock.monotonicMs() + durationOption('--wait', options.wait);
      let found = await ask(url);
      while (!found.ok && clock.monotonicMs() + PAUSE_MS < until) {
        await clock.sleep(PAUSE_MS);
        found = await ask(url);
      }
      if (options.json) printJson(terminal, { ...found, url });
      else terminal.print(`${found.ok ? 'ok' : 'failing'}: ${url} ${found.response}`);
      if (!found.ok) throw new CommandFailure();
    });
};

/** The status of the response, or why there is none. */
async function ask(url: string): Promise<{ ok: boolean; response: string | number }> {
  try {
    const signal = AbortSignal.timeout(RESPONSE_MS_MAX);
    const response = await fetch(url, { signal, redirect: 'manual' });
    await response.body?.cancel();
    return { ok: response.ok, response: response.status };
  } catch (error) {
    const { cause = error, name } = error as Error;
    return { ok: false, response: systemCodeOf(cause) ?? name };
  }
}
