import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { takeBlock } from '../e2e/support/documents.ts';
import { type Run, someInstance } from './run.ts';

const RUN_EVERY_MS = 500;
const LAST_RUNS_MAX = 50;

/** The documented program of a sales tool, which keeps a copy of the leads. */
export type SalesTool = {
  /** Runs it again and again, at one instance after the other; what is killed meanwhile fails a run. */
  keepRunning(): Promise<void>;
  /** Runs it once more, to its end. */
  runOnceMore(): Promise<void>;
  /** Deleted leads that its copy holds, of these. */
  holds(numbers: readonly number[]): number[];
};

export function createSalesTool(run: Run, key: string): SalesTool {
  const folder = path.join(run.folder, 'sales-tool');
  mkdirSync(folder);
  const program = path.join(folder, 'sync-leads.mts');
  writeFileSync(program, takeBlock('docs/how-to/sales-tool.md', 'existsSync'));
  /** Whether it has read leads and removals. */
  const runAt = (url: string): Promise<boolean> =>
    new Promise((resolve) => {
      const env = { PATH: process.env['PATH'], TRACKPORT_URL: url, TRACKPORT_KEY: key };
      execFile(process.execPath, [program], { cwd: folder, env }, (error, _out, err) =>
        resolve(!error && err === ''),
      );
    });
  return {
    keepRunning: async () => {
      while (!run.isOver()) {
        if (await runAt(someInstance(run).url)) run.report.copies += 1;
        await sleep(RUN_EVERY_MS);
      }
    },
    runOnceMore: async () => {
      for (let runs = 0; runs < LAST_RUNS_MAX; runs += 1) {
        if (await runAt(run.publicUrl)) return;
        await sleep(RUN_EVERY_MS);
      }
      run.report.violations.push('the sales tool could not read the leads in the end');
    },
    holds: (numbers) => {
      const text = readFileSync(path.join(folder, 'leads.json'), 'utf8');
      const { leads } = JSON.parse(text) as { leads: Record<string, unknown> };
      return numbers.filter((number) => String(number) in leads);
    },
  };
}
