/**
 * What each of several processes runs that serve together. It does what the primary process calls for, and
 * ends with it: `node:cluster` sees to that.
 */
import { readEnvironment } from '#config/load.ts';
import { readTracing } from '#config/tracing.ts';
import type { OwnReports, ServiceReports } from '#http/readiness.ts';
import { systemClock } from '#shared/clock.ts';
import { describeBug } from '#shared/log.ts';
import { startService } from '../../compose.ts';
import type { Service } from '../service.ts';
import { EXIT_FAILED, StartError } from '../server/start-error.ts';
import { createLog, type LevelLog, createLogOutput, READER_WAIT_MS } from '../telemetry/log.ts';
import { type ChildCalls, createIpc, type Ipc, type PrimaryCalls, unpackConfig } from './ipc.ts';

/** Elsewhere `node:cluster` hands connections round. */
const CAN_REUSE_PORT = process.platform === 'linux';

/** Serves until the primary process says otherwise, or is gone. */
function runChild(): void {
  const logOutput = createLogOutput(systemClock);
  for (const event of ['uncaughtException', 'unhandledRejection']) process.on(event, die);
  // A terminal and a service manager signal every process; what is to be done comes from the primary.
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM', 'SIGUSR1'])
    process.on(signal, () => undefined);
  let started: Promise<{ service: Service; log: LevelLog }> | undefined;
  /** What this process says of itself, once there is something to say. */
  let own: OwnReports | undefined;
  const call = createIpc<PrimaryCalls, ChildCalls>(process, {
    start: (packed) => {
      const config = unpackConfig(packed);
      const log = createLog(config.server.logLevel, logOutput, { pid: process.pid });
      const starting = startService({
        config,
        clock: systemClock,
        log,
        logOutput,
        combineReports: (reports) => {
          own = reports;
          return askPrimary(call);
        },
        tracing: readTracing(readEnvironment()),
        reusePort: CAN_REUSE_PORT,
      });
      started = starting.then((service) => ({ service, log }));
      started.catch(() => undefined); // the primary is told by `start`
      return starting.then(({ url }) => ({ url }), reasonOf);
    },
    reload: async (packed) => {
      const { service, log } = (await started) ?? {};
      const config = unpackConfig(packed);
      service?.reload(config);
      log?.setLevel(config.server.logLevel);
    },
    isHealthy: async () => true,
    readiness: async () => own?.readiness(),
    metrics: async () => own?.metrics(),
    stop: async () => {
      const running = await started?.catch(() => undefined);
      await running?.service.stop();
      await logOutput.close(READER_WAIT_MS);
      process.exit(running ? 0 : EXIT_FAILED);
    },
  });
}

function reasonOf(error: unknown): { reason: string } {
  if (error instanceof StartError) return { reason: error.message };
  die(error);
  throw error;
}

function die(error: unknown): void {
  process.stderr.write(`${describeBug(error)}\n`, () => process.exit(EXIT_FAILED));
}

/** What all processes say. */
function askPrimary(call: Ipc<PrimaryCalls>): ServiceReports {
  const ask = async <Name extends keyof PrimaryCalls>(name: Name): Promise<PrimaryCalls[Name]> => {
    const report = await call(name);
    if (report === undefined) throw new Error('the processes could not be asked');
    return report;
  };
  return {
    isHealthy: () => ask('isHealthy'),
    readiness: () => ask('readiness'),
    metrics: () => ask('metrics'),
  };
}

runChild();
