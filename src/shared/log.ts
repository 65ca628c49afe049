import { causesOf, systemCodeOf } from './errors.ts';

/**
 * The part of a pino logger that our code uses. Fields first, then a constant message.
 * `docs/logging.md` says what may be logged, and what never.
 */
export type Log = {
  /** True where `debug` lines are written: spares building those that nobody will read. */
  isDebug(): boolean;
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
};

export type LogFields = Record<string, string | number | boolean | undefined>;

/** Writes nothing: for tests and commands whose output is their own. */
export const silentLog: Log = {
  isDebug: () => false,
  debug: noop,
  info: noop,
  warn: noop,
  error: noop,
};

function noop(): void {}

/**
 * Class and code of an error and of its causes. Messages are left out because libraries put bodies
 * and addresses into them.
 */
export function errorFields(error: unknown): LogFields {
  const chain = [...causesOf(error)].map((cause) => {
    const code = systemCodeOf(cause);
    return code === undefined ? cause.name : `${cause.name}(${code})`;
  });
  return { error: chain.join(' < ') || typeof error };
}

/** An unexpected error for standard error: names and places only, for its message can hold anything. */
export function describeBug(error: unknown): string {
  const reason = `Unexpected failure: ${String(errorFields(error)['error'])}`;
  return [reason, ...framesOf(error)].join('\n');
}

/** The lines of a stack that name places, without the first ones, which hold the message. */
export function framesOf(error: unknown): string[] {
  const lines = error instanceof Error ? (error.stack ?? '').split('\n') : [];
  return lines.filter((line) => line.startsWith('    at '));
}
