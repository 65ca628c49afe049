import { pino } from 'pino';

import type { Log, LogFields } from '#shared/log.ts';

import type { LogOutput } from './log-output.ts';

export type LogLevel = 'error' | 'warn' | 'info' | 'debug' | 'silent';

/** A log whose level can change while it is written. */
export type LevelLog = Log & { setLevel(level: LogLevel): void };

/**
 * JSON lines with RFC 3339 times and the level as a word. Opens the output. `base` stands in every
 * line; default nothing.
 */
export function createLog(
  level: LogLevel,
  output: Pick<LogOutput, 'open' | 'write'>,
  base: LogFields | null = null,
): LevelLog {
  output.open();
  const logger = pino(
    {
      level,
      base,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    output,
  );
  return {
    setLevel: (next) => {
      logger.level = next;
    },
    isDebug: () => logger.isLevelEnabled('debug'),
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
  };
}
