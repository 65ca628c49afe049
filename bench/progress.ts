/** What is being measured: one line that changes on a terminal, lines one after another elsewhere. */
import { performance } from 'node:perf_hooks';

type Output = { isTTY?: boolean; write(text: string): unknown };

/** Shows `label` and the seconds that have passed while `work` runs. */
export async function withProgress<T>(
  label: string,
  work: () => Promise<T>,
  output: Output = process.stderr,
): Promise<T> {
  const startedAt = performance.now();
  const line = (): string => `${label} … ${((performance.now() - startedAt) / 1000).toFixed(0)} s`;
  const show = (): void => void output.write(`\r\x1b[K${line()}`);
  if (output.isTTY) show();
  const ticker = output.isTTY ? setInterval(show, 1000) : undefined;
  try {
    return await work();
  } finally {
    clearInterval(ticker);
    output.write(output.isTTY ? `\r\x1b[K${line()}\n` : `${line()}\n`);
  }
}
