import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { endAtExit } from '../test/support/at-exit.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** A child process that has said that it is ready. */
export type Running = {
  url: string;
  /** Resident memory in MiB. */
  residentMiB(): number;
  /** Processor time in ms, user and system, that it has taken so far. */
  processorMs(): number;
  stop(): Promise<void>;
};

/** Starts `node <args>` and waits for the first JSON line with a `url`. */
export async function start(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Running> {
  const child = endAtExit(
    spawn(process.execPath, args, {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, ...env },
    }),
  );
  const url = await firstUrl(child, args);
  return {
    url,
    residentMiB: () => {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
    },
    processorMs: () => processorMsOf(child.pid ?? 0),
    stop: async () => {
      if (child.exitCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

/** Linux counts in hundredths of a second, on every architecture that Node runs on. */
const TICK_MS = 10;
/** Positions of the times behind the name of the program, which may hold anything. */
const USER_TICKS = 11;
const SYSTEM_TICKS = 12;

function processorMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[USER_TICKS]) + Number(fields[SYSTEM_TICKS])) * TICK_MS;
}

async function firstUrl(child: ChildProcess, args: readonly string[]): Promise<string> {
  if (!child.stdout) throw new Error('the child has no output');
  for await (const line of createInterface({ input: child.stdout })) {
    const url = urlIn(line);
    if (url === undefined) continue;
    child.stdout.resume();
    return url;
  }
  throw new Error(`${args.join(' ')} ended before it was ready`);
}

function urlIn(line: string): string | undefined {
  if (!line.startsWith('{')) return undefined;
  const { url } = JSON.parse(line) as { url?: unknown };
  return typeof url === 'string' ? url : undefined;
}

/** Runs `node <args>` to its end and returns its standard output. */
export async function output(args: readonly string[]): Promise<string> {
  const child = endAtExit(
    spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] }),
  );
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`);
  return text;
}
