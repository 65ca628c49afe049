import { parseDuration } from '#shared/units.ts';

import { UsageError } from './command.ts';

/** Milliseconds of an option's duration. @throws {UsageError} for anything else */
export function durationOption(name: string, text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined)
    throw new UsageError(`${name} takes a duration such as 12h or 30d, not "${text}"`);
  return ms;
}

/** A whole number. @throws {UsageError} for anything else */
export function numberOption(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`${name} takes a whole number, not "${text}"`);
  return Number(text);
}
