import { constants, fstatSync, openSync, write, writeSync } from 'node:fs';

import { type Clock, SECOND } from '#shared/clock.ts';
import { systemCodeOf } from '#shared/errors.ts';

/** Where the lines of the log go. Nothing in it waits for the reader, throws, or ends the process. */
export type LogOutput = {
  /** From now on lines are written; before, nothing is touched. Idempotent. */
  open(): void;
  isOpen(): boolean;
  /** Takes a line with its line break. It is dropped when too much waits for the reader. */
  write(line: string): void;
  /** Lines that reached nobody so far: there was no room, no reader or no space. */
  droppedLines(): number;
  /** Resolves once all that was taken is written or dropped, at the latest after `waitMs`. */
  flush(waitMs: number): Promise<void>;
  /** Writes what can be written at once, for the end of the process. Never waits. */
  flushNow(): void;
};

/** A file that is written without waiting for its reader. */
export type LogFile = {
  /** Writes some of the bytes and tells how many. */
  write(bytes: Buffer, done: (error: Error | null, written: number) => void): void;
  /** The same, synchronously. @throws the system's error */
  writeNow(bytes: Buffer): number;
};

export type LogOutputDeps = {
  clock: Pick<Clock, 'sleep'>;
  /** Called once. Default: standard output. */
  openFile?: () => LogFile;
};

/** How much waits for a slow reader at most, in characters; a line is about 200. */
const WAITING_CHARS_MAX = 1024 * 1024;
/** When a pipe that was full is tried again, twice as late each time. */
const FULL_FIRST_MS = 1;
const FULL_MAX_MS = 50;
/** When a file that cannot be written is tried again: a disk gets space, a named pipe a new reader. */
const REST_MS = SECOND;
const FULL = new Set(['EAGAIN', 'EWOULDBLOCK', 'EINTR']);
const LINE_BREAK = 0x0a;

type State = {
  clock: LogOutputDeps['clock'];
  file: LogFile | undefined;
  waiting: string[];
  waitingChars: number;
  dropped: number;
  /** False after a line of which only the beginning was written. */
  isAtLineStart: boolean;
  /** While lines are being written. */
  running: Promise<void> | undefined;
};

/**
 * pino's own destination waits for the reader for ever, where the process ends, too. This one drops
 * lines instead, counts them, and goes on as soon as somebody reads or there is space again.
 */
export function createLogOutput({
  clock,
  openFile = openStandardOutput,
}: LogOutputDeps): LogOutput {
  const state: State = {
    clock,
    file: undefined,
    waiting: [],
    waitingChars: 0,
    dropped: 0,
    isAtLineStart: true,
    running: undefined,
  };
  return {
    open: () => void (state.file ??= openFile()),
    isOpen: () => state.file !== undefined,
    write: (line) => take(state, line),
    droppedLines: () => state.dropped,
    flush: async (waitMs) => {
      const done = new AbortController();
      const late = clock.sleep(waitMs, { signal: done.signal }).catch(() => undefined);
      await Promise.race([state.running, late]);
      done.abort();
    },
    flushNow: () => writeNow(state),
  };
}

function take(state: State, line: string): void {
  if (!state.file || state.waitingChars + line.length > WAITING_CHARS_MAX) {
    state.dropped += 1;
    return;
  }
  state.waiting.push(line);
  state.waitingChars += line.length;
  state.running ??= writeAll(state, state.file);
}

/** Lines that come during one write share the next one. */
async function writeAll(state: State, file: LogFile): Promise<void> {
  while (state.waiting.length > 0) {
    const batch = nextBatch(state);
    const left = await writeBatch(state, file, batch.bytes);
    const written = batch.bytes.length - left.length;
    if (written > 0) state.isAtLineStart = batch.bytes[written - 1] === LINE_BREAK;
    if (left.length === 0) continue;
    state.dropped += Math.min(batch.lines, countLines(left));
    await state.clock.sleep(REST_MS, { unref: true });
  }
  state.running = undefined;
}

function nextBatch(state: State): { bytes: Buffer; lines: number } {
  const { waiting, isAtLineStart } = state;
  state.waiting = [];
  state.waitingChars = 0;
  // What was left of a torn line must not stand before a whole one.
  const text = waiting.join('');
  return { bytes: Buffer.from(isAtLineStart ? text : `\n${text}`), lines: waiting.length };
}

/** Answers what could not be written: nothing, or all from the first failure on. */
async function writeBatch({ clock }: State, file: LogFile, bytes: Buffer): Promise<Buffer> {
  let left = bytes;
  let waitMs = FULL_FIRST_MS;
  while (left.length > 0) {
    const { error, written } = await writeSome(file, left);
    left = left.subarray(written);
    if (error && !FULL.has(systemCodeOf(error) ?? '')) return left;
    if (written > 0) waitMs = FULL_FIRST_MS;
    else {
      await clock.sleep(waitMs, { unref: true });
      waitMs = Math.min(waitMs * 2, FULL_MAX_MS);
    }
  }
  return left;
}

function writeSome(
  file: LogFile,
  bytes: Buffer,
): Promise<{ error: Error | null; written: number }> {
  return new Promise((resolve) => {
    file.write(bytes, (error, written) => resolve({ error, written: error ? 0 : written }));
  });
}

function writeNow(state: State): void {
  if (!state.file || state.waiting.length === 0) return;
  let { bytes } = nextBatch(state);
  try {
    while (bytes.length > 0) bytes = bytes.subarray(state.file.writeNow(bytes));
  } catch {
    // Nobody reads, and there is nobody left to tell.
  }
}

function countLines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LINE_BREAK); at >= 0; at = bytes.indexOf(LINE_BREAK, at + 1))
    count += 1;
  return count;
}

function openStandardOutput(): LogFile {
  const fd = withoutBlocking(process.stdout.fd);
  return {
    write: (bytes, done) => write(fd, bytes, done),
    writeNow: (bytes) => writeSync(fd, bytes),
  };
}

/**
 * A write to a full pipe, or to a terminal that is stopped, would hold a thread that the end of the
 * process waits for. The file is opened anew where that can be done (Linux), since whoever shares
 * the descriptor can turn blocking on again; else it is enough that `process.stdout` turned it off
 * for pipes and sockets when it was read.
 */
function withoutBlocking(fd: number): number {
  try {
    const file = fstatSync(fd);
    if (!file.isFIFO() && !file.isCharacterDevice()) return fd;
    const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;
    return openSync(`/proc/self/fd/${fd}`, O_WRONLY | O_NONBLOCK | O_NOCTTY);
  } catch {
    return fd;
  }
}
