import { pino } from 'pino';

import type { Log } from '#shared/log.ts';

import type { LogOutput } from './log-output.ts';

export type LogLevel = 'error' | 'warn' | 'info' | 'debug' | 'silent';

/** JSON lines with RFC 3339 times and the level as a word. Opens the output. */
export function createLog(level: LogLevel, output: LogOutput): Log {
  output.open();
  const logger = pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    output,
  );
  return {
    isDebug: () => logger.isLevelEnabled('debug'),
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
  };
}
