import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { callControl, readControl } from '#sandbox/instruments/remote-controls.ts';
import { endAtExit } from '../support/at-exit.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A child process that has printed a JSON line with its address. */
export type Child = {
  url: string;
  /** Everything that it wrote to both outputs so far. */
  output(): string;
  hasEnded(): boolean;
  /** Resolves with its exit code when it is gone. */
  exited: Promise<number | null>;
  /** Has it read its configuration again. */
  reload(): void;
  /** Ends it without any warning; resolves when it is gone. */
  kill(): Promise<void>;
  /** Asks it to end; resolves with its exit code. */
  stop(): Promise<number | null>;
};

/** Starts `node <args>` with more in its environment, and waits for its address. */
export async function startChild(
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<Child> {
  const child = endAtExit(
    spawn(process.execPath, args, {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...environment },
    }),
  );
  let text = '';
  const url = Promise.withResolvers<string>();
  let isListening = false;
  const take = (chunk: Buffer): void => {
    text += chunk.toString();
    const found = isListening ? undefined : urlIn(text);
    if (found === undefined) return;
    isListening = true;
    url.resolve(found);
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  child.once('exit', () => url.reject(new Error(`${args.join(' ')} ended early:\n${text}`)));
  return { url: await url.promise, output: () => text, ...controlsOf(child) };
}

function controlsOf(child: ChildProcess): Omit<Child, 'url' | 'output'> {
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const exited = once(child, 'close').then(([code]) => code as number | null);
  const end = (signal: NodeJS.Signals): Promise<number | null> => {
    child.kill(signal);
    return exited;
  };
  return {
    hasEnded,
    exited,
    reload: () => void child.kill('SIGHUP'),
    kill: async () => {
      await end('SIGKILL');
    },
    stop: () => end('SIGTERM'),
  };
}

function urlIn(text: string): string | undefined {
  for (const line of text.split('\n')) {
    if (!line.startsWith('{') || !line.endsWith('}')) continue;
    const { url } = JSON.parse(line) as { url?: unknown };
    if (typeof url === 'string') return url;
  }
  return undefined;
}

/** The sandbox tracker in another process, driven over its control address. */
export type RemoteTracker = {
  url: string;
  token: string;
  control<T = unknown>(name: string, ...args: unknown[]): Promise<T>;
  list<T>(name: Parameters<typeof readControl>[1]): Promise<T[]>;
  stop(): Promise<unknown>;
};

export async function startRemoteTracker(): Promise<RemoteTracker> {
  const child = await startChild([
    'bin/trackport.js',
    'sandbox',
    '--tracker-only',
    '--port=0',
    '--no-webhook',
    '--issues=0',
    '--quota=100000000',
  ]);
  return {
    url: child.url,
    token: 'sandbox-admin-token',
    control: (name, ...args) => callControl(child.url, name, ...args),
    list: (name) => readControl(child.url, name),
    stop: () => child.stop(),
  };
}
