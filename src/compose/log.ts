import { pino } from 'pino';

import type { Log } from '#shared/log.ts';

export type LogLevel = 'error' | 'warn' | 'info' | 'debug' | 'silent';

/** JSON lines on standard output, with RFC 3339 times and the level as a word. */
export function createLog(level: LogLevel): Log {
  const logger = pino({
    level,
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label) => ({ level: label }) },
  });
  return {
    isDebug: () => logger.isLevelEnabled('debug'),
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
  };
}
