import { parseSince } from '#shared/clock.ts';
import { parseDuration } from '#shared/text/units.ts';

import { UsageError } from './command.ts';

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
