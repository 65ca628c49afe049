import type { LogOutput } from '#adapters/pino/log.ts';

/** A log that is told line by line, and never full. */
export const logOutputTo = (write: (line: string) => void): LogOutput => ({
  open: () => undefined,
  isOpen: () => true,
  write,
  droppedLines: () => 0,
  close: async () => undefined,
});
