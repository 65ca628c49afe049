import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import type { Command } from 'commander';
import type { Program } from '#compose/service.ts';
import type { Config } from '#config/schema/schema.ts';
import type { Actor } from '#shared/audit.ts';
import { type Clock, parseSince } from '#shared/clock.ts';
import type { Page, PageRequest } from '#shared/pagination/page.ts';
import { parseDuration } from '#shared/text/units.ts';

/** The other side of every command. Results go to `print`, everything else to `note`. */
export type Terminal = {
  /** Writes a result and a line break to standard output. */
  print(text: string): void;
  /** Writes a remark and a line break to standard error. */
  note(text: string): void;
  /** True when standard output is a terminal that wants colours. */
  hasColour: boolean;
  /** True when standard error is a terminal, so that a progress line makes sense. */
  isInteractive: boolean;
  /**
   * Writes a question to standard error and resolves with the line that a person types, `''` at the end
   * of input. Absent where nobody can reply: standard input or error is no terminal.
   */
  ask?: (question: string) => Promise<string>;
};

/** One run of one command. */
export type Task<Options = unknown> = {
  config: Config;
  terminal: Terminal;
  clock: Clock;
  /** The operating system's user, whom the audit log names. */
  actor: Actor;
  /** `--json`: print exactly one JSON document. */
  isJson: boolean;
  /** Arguments behind the command's name. */
  args: readonly string[];
  options: Options;
};

/** A wrong argument or option: the message says what to write instead. The exit code becomes 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

/**
 * The command did its work and the result is a failure (exit 1). Without a message the result has
 * said everything.
 */
export class CommandFailure extends Error {
  constructor(message = '', options?: ErrorOptions) {
    super(message, options);
    this.name = 'CommandFailure';
  }
}

/** Options that every command knows. */
export type ConfigOptions = {
  config?: string;
  json?: boolean;
  port?: string;
};

/** The program, and what every command reads and writes. */
export type RunContext = Program & {
  terminal: Terminal;
  /**
   * Reads the file, above it the environment, above both `--port`; defaults for the rest.
   * @throws {ConfigError} with every problem
   */
  loadConfig: (options: ConfigOptions) => Config;
  /** The file of `--config`, or of the variable `TRACKPORT_CONFIG`. */
  configFile: (options: ConfigOptions) => string | undefined;
  /**
   * Makes a commander action from the work of one command on the configuration that `--config` names. `Options` is what
   * the command's own `.option(…)` calls yield. Work that fails throws: a `UsageError` (exit 2) for a wrong argument, a
   * `TrackportError` (exit 1, its `detail` is shown) for everything expected.
   */
  action: <Options = unknown>(
    work: (task: Task<Options>) => Promise<void>,
  ) => (...received: unknown[]) => Promise<void>;
};

/**
 * Gives `command` its options and its action, or the commands below it (`consumer` is there already;
 * `create`, `list` are added). `--config` and `--json` are known to every command; do not add them.
 * An action loads what it calls itself: whoever asks for help does not wait for that.
 */
export type Register = (command: Command, context: RunContext) => void;

/** Prints a value as one indented JSON document. */
export function printJson(terminal: Terminal, value: unknown): void {
  terminal.print(JSON.stringify(value, null, 2));
}

const PAGE_ITEMS = 100;

/** Every item of a list that is read by pages. `list` gets no cursor for the first of them. */
export async function readAll<Item>(
  list: (page: PageRequest) => Promise<Page<Item>>,
): Promise<Item[]> {
  const all: Item[] = [];
  for (let cursor: string | undefined; ;) {
    const { items, pagination } = await list({ limit: PAGE_ITEMS, cursor });
    all.push(...items);
    if (pagination.nextCursor === undefined) return all;
    cursor = pagination.nextCursor;
  }
}

/**
 * Asks a person to confirm what cannot be undone, and returns when the reply is yes. Where nobody
 * can reply, as in a script, it returns at once.
 * @throws {CommandFailure} for any other reply
 */
export async function confirm(terminal: Terminal, question: string): Promise<void> {
  if (terminal.ask === undefined) return;
  const reply = await terminal.ask(`${question} [y/N] `);
  if (!/^(?:y|yes)$/i.test(reply.trim())) throw new CommandFailure('Nothing was changed.');
}

/**
 * Writes the question and resolves with the next line of input, `''` when the input ends. Without line
 * editing of our own, so that Ctrl-C ends the program as it always does.
 */
export async function askLine(
  { input, output }: { input: Readable; output: Writable },
  question: string,
): Promise<string> {
  output.write(question);
  const { createInterface } = await import('node:readline'); // hardly any command asks
  const lines = createInterface({ input, terminal: false });
  const typed = once(lines, 'line').then(([line]) => String(line));
  const ended = once(lines, 'close').then(() => undefined);
  const reply = await Promise.race([typed, ended]);
  lines.close();
  if (reply === undefined) output.write('\n');
  return reply ?? '';
}

/** Milliseconds of an option's duration. @throws {UsageError} for anything else */
export function durationOption(name: string, text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined)
    throw new UsageError(`${name} takes a duration such as 12h or 30d, not "${text}"`);
  return ms;
}

/** Milliseconds from `now` until a key expires: a duration, or a date or date-time. @throws {UsageError} */
export function expiresOption(text: string, now: number): number {
  const ms = parseDuration(text);
  if (ms !== undefined) return ms;
  const instant = parseSince(text);
  if (instant !== undefined) return instant - now;
  throw new UsageError(
    `--expires takes a duration such as 30d, or a date such as 2026-09-21 or 2026-09-21T12:00:00Z, not "${text}"`,
  );
}

/** A whole number. @throws {UsageError} for anything else */
export function numberOption(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`${name} takes a whole number, not "${text}"`);
  return Number(text);
}

/** Milliseconds since the Unix epoch of a date or a date-time. @throws {UsageError} */
export function instantOption(name: string, text: string): number {
  const instant = parseSince(text);
  if (instant === undefined)
    throw new UsageError(
      `${name} takes a date such as 2026-09-21, or 2026-09-21T12:00:00Z, not "${text}"`,
    );
  return instant;
}
