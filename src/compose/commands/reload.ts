import { ConfigError, renderProblem } from '#config/problems.ts';
import type { Config } from '#config/schema/schema.ts';
import { configWarnings } from '#config/warnings.ts';
import { errorFields, type Log } from '#shared/log.ts';
import type { Service } from '../service.ts';
import type { LevelLog } from '../telemetry/log.ts';

export type ReloadDeps = {
  /** Reads the configuration as the start did. @throws {ConfigError} */
  load: () => Config;
  service: Pick<Service, 'reload'>;
  log: LevelLog;
};

/**
 * Reads the configuration again and takes over what a running service can. A configuration that is
 * wrong changes nothing. What came of it is one line of the log, with keys and without values.
 */
export function reloadService({ load, service, log }: ReloadDeps): void {
  try {
    const { config, ...taken } = service.reload(load());
    log.setLevel(config.server.logLevel);
    logWarnings(log, config);
    const changed = taken.changed.join(', ');
    const restartNeeded = taken.restartNeeded.join(', ');
    if (restartNeeded === '') log.info({ changed }, 'configuration reloaded');
    else log.warn({ changed, restartNeeded }, 'configuration reloaded: some keys need a restart');
  } catch (error) {
    const facts =
      error instanceof ConfigError
        ? { problems: error.problems.map(renderProblem).join('; ') }
        : errorFields(error);
    log.error(facts, 'configuration not reloaded: nothing was changed');
  }
}

/** What is allowed and likely not meant. */
export function logWarnings(log: Log, config: Config): void {
  for (const { key, text } of configWarnings(config)) log.warn({ key }, text);
}
