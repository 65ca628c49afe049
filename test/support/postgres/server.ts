import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { SECOND } from '#shared/clock.ts';
import { endAtExit, scratchFolder, type ScratchFolder } from '../at-exit.ts';
import { freePort } from '../free-port.ts';
import { findBinaries } from './binaries.ts';

/** A PostgreSQL server of the tests' own, on 127.0.0.1 and a port of its own. */
export type PostgresServer = {
  /** `postgres://user:password@host:port/database` of its maintenance database. */
  url: string;
  /**
   * Ends the server as a failover does: connections break, nothing that was committed is lost. `fast`
   * (the default) rolls back and writes all to disk; `immediate` is a crash.
   */
  halt(how?: Halt): Promise<void>;
  /** Starts it again after `halt`, at the same address; as a standby it can only be read, from then on. */
  start(role?: 'standby'): Promise<void>;
  /** Ends it, and removes all that it wrote. Idempotent. */
  stop(): Promise<void>;
};

export type Halt = 'fast' | 'immediate';

const HALT_SIGNALS = { fast: 'SIGINT', immediate: 'SIGQUIT' } as const;
const USER = 'trackport';
const START_TIMEOUT_MS = 60 * SECOND;
const LOOK_EVERY_MS = 20;

/** Tests may lose what they wrote when the machine fails, and so need not wait for its disk. */
const FAST = ['fsync=off', 'full_page_writes=off'];
const SETTINGS = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'max_connections=200',
  'shared_buffers=64MB',
  'log_min_messages=fatal',
];

export type PostgresOptions = {
  /** It waits for the disk, as in production. */
  isDurable?: boolean;
  /** Further variables of its environment. */
  environment?: NodeJS.ProcessEnv;
};

/** Starts a server in a folder of its own. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const folder = scratchFolder('postgres');
  try {
    return await startIn(folder, options);
  } catch (error) {
    folder[Symbol.dispose]();
    throw error;
  }
}

async function startIn(
  scratch: ScratchFolder,
  { isDurable = false, environment = {} }: PostgresOptions,
): Promise<PostgresServer> {
  const { path: folder } = scratch;
  const user = unprivilegedUser();
  const { folder: bin } = findBinaries(folder);
  const data = path.join(folder, 'data');
  const password = randomBytes(12).toString('hex');
  writeFileSync(path.join(folder, 'password'), password);
  const settings = [...SETTINGS, ...(isDurable ? [] : FAST)].flatMap((one) => ['-c', one]);
  if (user)
    for (const one of [folder, path.join(folder, 'password')]) chownSync(one, user.uid, user.gid);
  const options = { cwd: folder, ...user };
  await initialize(path.join(bin, 'initdb'), folder, options);
  const port = await freePort();
  const url = `postgres://${USER}:${password}@127.0.0.1:${port}/postgres`;
  let running: ChildProcess | undefined;
  const start = async (role?: 'standby'): Promise<void> => {
    if (role === 'standby') writeFileSync(path.join(data, 'standby.signal'), '');
    const log = openSync(path.join(folder, 'log'), 'a');
    const args = ['-D', data, '-p', String(port), ...settings];
    const env = { ...process.env, ...environment };
    const child = spawn(path.join(bin, 'postgres'), args, {
      ...options,
      env,
      stdio: ['ignore', log, log],
    });
    running = endAtExit(child, HALT_SIGNALS.immediate);
    closeSync(log);
    await waitUntilReady(url, running, path.join(folder, 'log'));
  };
  const halt = async (how: Halt = 'fast'): Promise<void> => {
    const ending = running;
    running = undefined;
    if (!ending || ending.exitCode !== null) return;
    const exited = once(ending, 'exit');
    ending.kill(HALT_SIGNALS[how]);
    await exited;
  };
  await start();
  return {
    url,
    start,
    halt,
    stop: async () => {
      await halt();
      scratch[Symbol.dispose]();
    },
  };
}

type SpawnOptions = { cwd: string; uid?: number; gid?: number };

/** ICU's order of text, so that what relies on the order of bytes is found out. */
async function initialize(initdb: string, folder: string, options: SpawnOptions): Promise<void> {
  const log = path.join(folder, 'initdb.log');
  const output = openSync(log, 'a');
  const child = spawn(
    initdb,
    [
      `--pgdata=${path.join(folder, 'data')}`,
      `--username=${USER}`,
      `--pwfile=${path.join(folder, 'password')}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--no-sync',
      '--locale=C',
      '--locale-provider=icu',
      '--icu-locale=en-US',
    ],
    { ...options, stdio: ['ignore', output, output] },
  );
  closeSync(output);
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`initdb ended with ${code}: ${readFileSync(log, 'utf8')}`);
}

async function waitUntilReady(url: string, child: ChildProcess, log: string): Promise<void> {
  const until = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    if (child.exitCode !== null || Date.now() > until)
      throw new Error(`PostgreSQL did not start: ${readFileSync(log, 'utf8').slice(-2000)}`);
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.end();
      return;
    } catch {
      await client.end().catch(() => undefined);
      await setTimeout(LOOK_EVERY_MS);
    }
  }
}

/** PostgreSQL refuses to run as root. */
function unprivilegedUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  const users = lines.map((line) => line.split(':'));
  const found = ['postgres', 'nobody'].flatMap((name) =>
    users.filter((user) => user[0] === name),
  )[0];
  if (!found) throw new Error('There is no user postgres or nobody to run PostgreSQL as.');
  return { uid: Number(found[2]), gid: Number(found[3]) };
}
