/** Starts the service, and reads its configuration again. */
import type { Environment } from '#config/interpolate.ts';
import { ConfigError, renderProblem } from '#config/problems.ts';
import type { Config } from '#config/schema/schema.ts';
import { readTracing } from '#config/tracing.ts';
import { configWarnings } from '#config/warnings.ts';
import type { Clock } from '#shared/clock.ts';
import { errorFields, type Log } from '#shared/log.ts';
import { COMMIT, VERSION } from '#shared/program.ts';
import { type Service, startService } from '../service.ts';
import { createLog, type LevelLog, type LogOutput } from '../telemetry/log.ts';

/** This process, as a command finds it. */
export type Program = { clock: Clock; environment: Environment; logOutput: LogOutput };

/**
 * Starts the service of a configuration. `load` reads that, now and for each reload.
 * @throws {ConfigError} @throws {StartError}
 */
export async function serve(
  { clock, environment, logOutput }: Program,
  load: () => Config,
  stopping: AbortSignal,
) {
  const config = load();
  const log = createLog(config.server.logLevel, logOutput);
  logWarnings(log, config);
  const tracing = readTracing(environment);
  const service = await startService({ config, clock, log, logOutput, tracing, stopping });
  const { url, publicUrl } = service;
  const portal = config.portal && { portal: `${publicUrl}/portal` };
  log.info({ version: VERSION, commit: COMMIT, ...portal, url }, 'listening');
  return { stop: () => service.stop(), reload: () => reload(service, load, log) };
}

/**
 * Reads the configuration again and takes over what a running service can. A configuration that is
 * wrong changes nothing. The result is one line of the log, with keys and without values.
 */
function reload(service: Service, load: () => Config, log: LevelLog): void {
  try {
    const { config, ...taken } = service.reload(load());
    log.setLevel(config.server.logLevel);
    logWarnings(log, config);
    const changed = taken.changed.join(', ');
    const restartNeeded = taken.restartNeeded.join(', ');
    if (restartNeeded === '') log.info({ changed }, 'configuration reloaded');
    else log.warn({ changed, restartNeeded }, 'configuration reloaded: some keys need a restart');
  } catch (error) {
    const fields =
      error instanceof ConfigError
        ? { problems: error.problems.map(renderProblem).join('; ') }
        : errorFields(error);
    log.error(fields, 'configuration not reloaded: nothing was changed');
  }
}

/** Tells of settings that are allowed and likely not meant. */
function logWarnings(log: Log, config: Config): void {
  for (const { key, text } of configWarnings(config)) log.warn({ key }, text);
}
