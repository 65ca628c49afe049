/** Which store the measured service or part had. */
export type StoreName = 'SQLite' | 'PostgreSQL';

/** Bound that a figure is to keep. */
export type Bound = { atLeast: number } | { atMost: number } | { exactly: number };

/** One figure of the bench: a ratio within one run; absolute ones only where they are counts or limits. */
export type BenchRow = {
  /** Names the figure; the same in every run. */
  what: string;
  /** Undefined when it was left out; `note` says why. */
  value: number | undefined;
  /** Default: a ratio or a count. */
  unit?: 'ms' | 'MiB';
  wanted?: Bound;
  /** Source of the figure. */
  source: string;
  /** Remark on the figure of this run. */
  note?: string;
  /** Default SQLite. */
  store?: StoreName;
};

/** The middle value; of an even number the lower of the two. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
}

/** True when the value is as wanted. */
export function isMet(value: number, wanted: Bound): boolean {
  if ('atLeast' in wanted) return value >= wanted.atLeast;
  if ('atMost' in wanted) return value <= wanted.atMost;
  return value === wanted.exactly;
}
