import { DAY, HOUR, MINUTE, SECOND } from '../clock.ts';

const durationUnits = { ms: 1, s: SECOND, m: MINUTE, h: HOUR, d: DAY } as const;
const sizeUnits = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 } as const;

/** A whole number and a unit: `500ms`, `15s`, `5m`, `24h`, `30d`. */
export const DURATION_PATTERN = /^(\d{1,9})(ms|s|m|h|d)$/;
/** A whole number and a unit: `512B`, `64KiB`, `1MiB`, `2GiB`. */
export const SIZE_PATTERN = /^(\d{1,9})(B|KiB|MiB|GiB)$/;

/** Milliseconds, or undefined when the text is no duration. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit] = DURATION_PATTERN.exec(text) ?? [];
  return unit === undefined
    ? undefined
    : Number(count) * durationUnits[unit as keyof typeof durationUnits];
}

/** Bytes, or undefined when the text is no size. */
export function parseSize(text: string): number | undefined {
  const [, count, unit] = SIZE_PATTERN.exec(text) ?? [];
  return unit === undefined ? undefined : Number(count) * sizeUnits[unit as keyof typeof sizeUnits];
}

/** The shortest exact text of a duration: 900,000 ms are `15m`, 0 is `0s`. */
export function formatDuration(ms: number): string {
  if (ms === 0) return '0s';
  const units = Object.entries(durationUnits).reverse();
  const [unit, length] = units.find(([, length]) => ms % length === 0) ?? ['ms', 1];
  return `${ms / length}${unit}`;
}
