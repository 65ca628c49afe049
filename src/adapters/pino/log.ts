import { pino } from 'pino';
import type { Log } from '#shared/log.ts';
import { constants, fstatSync, openSync } from 'node:fs';
import sonicBoom, { type SonicBoom } from 'sonic-boom';
import type { Clock } from '#shared/clock.ts';

type LogLevel = 'error' | 'warn' | 'info' | 'debug' | 'silent';

/** A log whose level can change while it is written. */
export type LevelLog = Log & { setLevel(level: LogLevel): void };

/** JSON lines with RFC 3339 times and the level as a word. Opens the output. */
export function createLog(level: LogLevel, output: Pick<LogOutput, 'open' | 'write'>): LevelLog {
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

/** The end of the log's lines. Nothing in it waits for the reader, throws, or ends the process. */
export type LogOutput = {
  /** From now on lines are written; before, nothing is touched. Idempotent. */
  open(): void;
  isOpen(): boolean;
  /** Takes a line with its line break. It is dropped when too much waits for the reader. */
  write(line: string): void;
  /** Lines for which there was no room. */
  droppedLines(): number;
  /** Writes what waits, for the end of the process; resolves at the latest after `waitMs`. */
  close(waitMs: number): Promise<void>;
};

/** Time that the end of a process gives to whoever reads its lines. */
export const READER_WAIT_MS = 500;

/** Bound on the lines that wait for a reader, or for space on a disk; a line has about 200 bytes. */
const WAITING_BYTES_MAX = 1024 * 1024;

/** `openFile` is called once, for a file descriptor. Default: standard output. */
export function createLogOutput(
  clock: Pick<Clock, 'sleep'>,
  openFile: () => number = openStandardOutput,
): LogOutput {
  let file: SonicBoom | undefined;
  let isClosed = false;
  let dropped = 0;
  const open = (): SonicBoom => {
    const opened = new sonicBoom.SonicBoom({ fd: openFile(), maxLength: WAITING_BYTES_MAX });
    opened.on('drop', () => (dropped += 1));
    // Lines that could not be written stay, and are tried again with the next one.
    opened.on('error', () => undefined);
    return opened;
  };
  return {
    open: () => void (file ??= open()),
    isOpen: () => file !== undefined,
    write: (line) => {
      if (file && !isClosed) file.write(line);
      else dropped += 1;
    },
    droppedLines: () => dropped,
    close: async (waitMs) => {
      if (!file || isClosed) return;
      isClosed = true;
      const done = new AbortController();
      for (const event of ['close', 'error']) file.once(event, () => done.abort());
      file.end();
      await clock.sleep(waitMs, { signal: done.signal }).catch(() => undefined);
    },
  };
}

/**
 * A write to a full pipe, or to a terminal that is stopped, would hold a thread that the end of the
 * process waits for. The file is opened anew where that can be done (Linux), since whoever shares
 * the descriptor can turn blocking on again; else it is enough that `process.stdout` turned it off
 * for pipes and sockets when it was read.
 */
function openStandardOutput(): number {
  const { fd } = process.stdout;
  try {
    const file = fstatSync(fd);
    if (!file.isFIFO() && !file.isCharacterDevice()) return fd;
    const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;
    return openSync(`/proc/self/fd/${fd}`, O_WRONLY | O_NONBLOCK | O_NOCTTY);
  } catch {
    return fd;
  }
}
