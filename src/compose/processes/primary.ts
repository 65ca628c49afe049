/**
 * The primary process of several that serve one port together (`server.processes`). It serves
 * nothing itself: it replaces whoever ends, writes the log of all, and gathers what they say of
 * themselves. `docs/decisions/0011-processes.md` has the reasons.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { Counter } from 'prom-client';
import type { Config } from '#config/schema/schema.ts';
import { takeOver } from '#config/take-over.ts';
import type { Clock } from '#shared/clock.ts';
import { reloadService } from '../reload.ts';
import { openStore } from '../store.ts';
import type { LevelLog, LogOutput } from '../telemetry/log.ts';
import { createRegistry, logMetrics } from '../telemetry/metrics.ts';
import { packConfig } from './ipc.ts';
import { createPool } from './pool.ts';
import { createReports } from './reports.ts';
import { listenError, type PortSetter } from '../server/start-error.ts';

export type PrimaryDeps = {
  config: Config;
  /** Reads the configuration again. @throws {ConfigError} */
  load: () => Config;
  clock: Clock;
  log: LevelLog;
  logOutput: LogOutput;
};

/** A service of several processes. */
export type Processes = {
  url: string;
  stop(): Promise<void>;
  reload(): void;
};

/** Starts the whole; resolves when all processes listen. @throws {StartError} */
export async function startProcesses(deps: PrimaryDeps): Promise<Processes> {
  const { clock, log, logOutput } = deps;
  const ports = await findPorts(deps.config);
  // Migrates once, before anybody serves, and makes the key that all of them share.
  await (await openStore(deps)).close();
  let running = deps.config;
  let packed = withPorts(running, ports);
  const registry = createRegistry();
  logMetrics(registry, logOutput);
  const size = running.server.processes;
  const hung = new Counter({
    name: 'trackport_processes_hung_total',
    help: 'Processes that said nothing for server.hangTimeout and were ended; absent when there is but one.',
    registers: [registry],
  });
  const reports = createReports({ size, members: () => pool.members(), registry, clock });
  const pool = createPool({
    size,
    stopDelayMs: running.server.stopDelay,
    hangTimeoutMs: running.server.hangTimeout,
    config: () => packed,
    clock,
    log,
    logOutput,
    whole: reports.whole,
    onEnded: (member) => void reports.remember(member),
    onHung: () => hung.inc(),
  });
  const url = await pool.started.catch(async (error: unknown) => {
    await pool.stop();
    throw error;
  });
  const reload = (next: Config) => {
    const taken = takeOver(running, next);
    running = taken.config;
    packed = withPorts(running, ports);
    pool.reload(packed);
    return taken;
  };
  return {
    url,
    stop: async () => {
      log.info({}, 'stopping');
      await pool.stop();
      log.info({}, 'stopped');
    },
    reload: () => reloadService({ load: deps.load, service: { reload }, log }),
  };
}

type Ports = Pick<Config['server'], 'port' | 'opsPort'>;

/** A port that was picked stays the same, whoever ends and is replaced. @throws {StartError} */
async function findPorts({ server: { host, port, opsPort } }: Config): Promise<Ports> {
  return {
    port: await probePort({ host, port }),
    ...(opsPort !== undefined && {
      opsPort: await probePort({ host, port: opsPort, setBy: 'server.opsPort' }),
    }),
  };
}

function withPorts(config: Config, ports: Ports): string {
  return packConfig({ ...config, server: { ...config.server, ...ports } });
}

/** The port if it can be listened on, a free one for 0. @throws {StartError} */
async function probePort(request: {
  host: string;
  port: number;
  setBy?: PortSetter;
}): Promise<number> {
  const { host, port } = request;
  const server = createServer();
  try {
    server.listen({ host, port });
    await once(server, 'listening');
    const { port: picked } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    return picked;
  } catch (error) {
    throw listenError(error, request);
  }
}
