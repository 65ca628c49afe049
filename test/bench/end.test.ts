import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync, readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { childrenOf } from '../../bench/processes.ts';
import { eventually } from '../support/eventually.ts';
import { temporaryFolder } from '../support/folder.ts';

const onLinux = process.platform === 'linux';

/** A process and all below it. */
const familyOf = (pid: number): number[] => [pid, ...childrenOf(pid).flatMap(familyOf)];

/** Empty for one that runs no more: it is gone, or was not waited for yet. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

const isRunning = (pid: number): boolean => commandOf(pid) !== '';

const QUICK_BENCH = ['bench/run.ts', '--quick', '--only', 'leads-hot'];
const TORTURE = ['bench/torture.ts', '--store', 'postgres'];

test.runIf(onLinux).each([
  { name: 'bench', args: QUICK_BENCH, signal: 'SIGTERM', code: 143, runs: [] },
  { name: 'torture', args: TORTURE, signal: 'SIGINT', code: 130, runs: ['postgres'] },
] as const)(
  'npm run $name that $signal ends leaves no process and no file behind',
  async ({ args, signal, code, runs }) => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o755); // PostgreSQL runs as another user than root
    const child = spawn(process.execPath, args, {
      stdio: 'ignore',
      env: { ...process.env, TMPDIR: folder },
    });
    const pid = child.pid ?? 0;
    let family: number[] = [];
    onTestFinished(() => {
      for (const left of family.filter(isRunning)) process.kill(left, 'SIGKILL');
    });
    await eventually(() => {
      family = familyOf(pid);
      const commands = family.map(commandOf).join('\n');
      for (const one of ['tracker-process.ts', 'serve', ...runs]) expect(commands).toContain(one);
    });
    child.kill(signal);
    expect(await once(child, 'exit')).toEqual([code, null]);
    await eventually(() => expect(family.filter(isRunning)).toEqual([]));
    expect(readdirSync(folder).filter((name) => name.startsWith('trackport-'))).toEqual([]);
  },
);
