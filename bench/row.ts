/** One line of the bench's table. Ratios within one run; absolute numbers only where they are counts. */
export type BenchRow = { what: string; measured: string; wanted?: string; met?: boolean };

/** The middle value; of an even number the lower of the two. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
}

/** A row for a ratio that must reach `wanted`, or stay below it. */
export function ratioRow(
  what: string,
  ratio: number,
  wanted: { atLeast: number } | { atMost: number },
): BenchRow {
  const met = 'atLeast' in wanted ? ratio >= wanted.atLeast : ratio <= wanted.atMost;
  const bound = 'atLeast' in wanted ? `≥ ${wanted.atLeast}` : `≤ ${wanted.atMost}`;
  return { what, measured: ratio.toFixed(2), wanted: bound, met };
}
