import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { temporaryFolder } from '../../support/folder.ts';
import { plainEnvironment, programFile } from '../../support/program.ts';

export type Trackport = {
  child: ChildProcess;
  stdout: () => string;
  stderr: () => string;
  /** Lines of the log so far; what is no JSON is left out. */
  log: () => Record<string, unknown>[];
  /** Resolves with the first log line of this message. Rejects when the process ends before. */
  logged: (message: string) => Promise<Record<string, unknown>>;
  /** Resolves with the exit code. */
  exited: Promise<number | null>;
};

export type StartOptions = {
  environment?: Record<string, string>;
  /** Another user than this process's; only root can. */
  user?: { uid: number; gid: number };
  /** Limits of the system, as arguments of the shell's `ulimit`. */
  limits?: string;
  /** Another copy of the program than this checkout's. */
  program?: string;
  /** Time of its kill; default when the running test is over. */
  atEnd?: (end: () => Promise<void>) => void;
};

/** Runs the whole program as a process of its own. */
export function trackport(args: readonly string[], options: StartOptions = {}): Trackport {
  const { program = programFile(), atEnd = onTestFinished } = options;
  const command = [process.execPath, program, ...args];
  const [first = '', ...rest] =
    options.limits === undefined ? command : limited(command, options.limits);
  const child = spawn(first, rest, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...plainEnvironment(), ...options.environment },
    ...options.user,
  });
  const text = { out: '', err: '' };
  const watchers = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text.out += part;
    for (const look of watchers) look();
  });
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    text.err += part;
  });
  const exited = once(child, 'close').then(([code]) => code as number | null);
  atEnd(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const log = (): Record<string, unknown>[] => text.out.split('\n').flatMap(parseLine);
  return {
    child,
    stdout: () => text.out,
    stderr: () => text.err,
    log,
    exited,
    logged: async (message) => {
      const found = new Promise<Record<string, unknown>>((resolve) => {
        const look = (): void => {
          const line = log().find(({ msg }) => msg === message);
          if (!line) return;
          watchers.delete(look);
          resolve(line);
        };
        watchers.add(look);
        look();
      });
      const line = await Promise.race([found, exited]);
      if (typeof line === 'object' && line !== null) return line;
      throw new Error(`exited with ${line} before "${message}": ${text.out}${text.err}`);
    },
  };
}

/** A file that grows too large is an error like that of a full disk, and no signal. */
function limited(command: readonly string[], limits: string): string[] {
  return ['/bin/sh', '-c', `trap '' XFSZ; ulimit ${limits} && exec "$@"`, 'sh', ...command];
}

/** Runs a command to its end. */
export async function runTrackport(
  args: readonly string[],
  options: StartOptions = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const run = trackport(args, options);
  const code = await run.exited;
  return { code, stdout: run.stdout(), stderr: run.stderr() };
}

/** Resolves with the address once the service listens. */
export async function listening(run: Trackport): Promise<string> {
  return String((await run.logged('listening'))['url']);
}

/** A configuration file with this content in a folder of its own. */
export function configFile(content: unknown, folder: string = temporaryFolder()): string {
  const file = path.join(folder, 'trackport.yaml');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

function parseLine(line: string): Record<string, unknown>[] {
  try {
    return [JSON.parse(line) as Record<string, unknown>];
  } catch {
    return [];
  }
}
