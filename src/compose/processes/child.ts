/**
 * One of several processes that serve together. It does what the primary process says, and ends with
 * it: `node:cluster` sees to that.
 */
import { readEnvironment } from '#config/load.ts';
import { readTracing } from '#config/tracing.ts';
import type { OwnReports, Whole } from '#http/routes/operations/routes.ts';
import { systemClock } from '#shared/clock.ts';
import { describeBug } from '#shared/log.ts';

import { startService } from '../../compose.ts';
import type { Service } from '../service.ts';
import { StartError, StoreStartError } from '../server/start-error.ts';
import { createLog, type LevelLog } from '../telemetry/log.ts';
import { createLogOutput, type LogOutput } from '../telemetry/log-output.ts';
import {
  type OwnReport,
  type ToChild,
  type Topic,
  type ToPrimary,
  unpackConfig,
  type WholeReport,
} from './messages.ts';
import { createRequests, type Requests } from './requests.ts';

const EXIT_FAILED = 1;
/** How long the end waits for the primary process to read the log. */
const READER_WAIT_MS = 500;

/** Elsewhere `node:cluster` hands connections round. */
const CAN_REUSE_PORT = process.platform === 'linux';

type Child = {
  logOutput: LogOutput;
  requests: Requests<WholeReport[Topic] | undefined>;
  /** What it says of itself, once there is something to say. */
  own?: OwnReports;
  started?: Promise<Started>;
};

type Started = { service: Service; log: LevelLog };

/** Serves until the primary process says otherwise, or is gone. */
export function runChild(): void {
  const logOutput = createLogOutput(systemClock);
  const child: Child = { logOutput, requests: createRequests() };
  for (const event of ['uncaughtException', 'unhandledRejection']) process.on(event, die);
  // A terminal and a service manager signal every process; what is to be done comes from the primary.
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM', 'SIGUSR1'])
    process.on(signal, () => undefined);
  process.on('message', (message) => void handle(child, message as ToChild));
  send({ kind: 'hello' });
}

function send(message: ToPrimary): void {
  // A primary that is gone ends this process: there is nobody left to tell.
  process.send?.(message, undefined, undefined, () => undefined);
}

function die(error: unknown): void {
  process.stderr.write(`${describeBug(error)}\n`, () => process.exit(EXIT_FAILED));
}

async function handle(child: Child, message: ToChild): Promise<void> {
  switch (message.kind) {
    case 'start':
      return start(child, message);
    case 'reload': {
      const { service, log } = (await child.started) ?? {};
      const config = unpackConfig(message.config);
      service?.reload(config);
      log?.setLevel(config.server.logLevel);
      return;
    }
    case 'ask':
      send({ kind: 'own', id: message.id, ...(await reportOf(child, message.topic)) });
      return;
    case 'whole':
      child.requests.settle(message.id, message.report);
      return;
    case 'stop':
      await (await child.started)?.service.stop();
      return end(child, 0);
  }
}

async function start(child: Child, { config: packed }: { config: ToConfig }): Promise<void> {
  const config = unpackConfig(packed);
  const { logOutput } = child;
  const log = createLog(config.server.logLevel, logOutput, { pid: process.pid });
  const together = (own: OwnReports): Whole => {
    child.own = own;
    return createWhole(child);
  };
  const starting = startService({
    config,
    clock: systemClock,
    log,
    logOutput,
    together,
    tracing: readTracing(readEnvironment()),
    reusePort: CAN_REUSE_PORT,
  });
  child.started = starting.then((service) => ({ service, log }));
  try {
    send({ kind: 'listening', url: (await starting).url });
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    const isStoreAway = error instanceof StoreStartError;
    send({ kind: 'failed', detail: error.message, isStoreAway });
    await end(child, EXIT_FAILED);
  }
}

type ToConfig = Extract<ToChild, { kind: 'start' }>['config'];

async function end({ logOutput }: Child, code: number): Promise<void> {
  await logOutput.close(READER_WAIT_MS);
  process.exit(code);
}

async function reportOf({ own }: Child, topic: Topic): Promise<{ report?: OwnReport[Topic] }> {
  try {
    if (topic === 'isHealthy') return { report: true };
    return own ? { report: await own[topic]() } : {};
  } catch {
    return {};
  }
}

function createWhole({ requests }: Child): Whole {
  const ask = async <Named extends Topic>(topic: Named): Promise<WholeReport[Named]> => {
    const report = await requests.ask((id) => send({ kind: 'ask', id, topic }));
    if (report === undefined) throw new Error('the processes could not be asked');
    return report as WholeReport[Named];
  };
  return {
    isHealthy: () => ask('isHealthy'),
    readiness: () => ask('readiness'),
    metrics: () => ask('metrics'),
  };
}
