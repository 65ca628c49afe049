/** One process that serves, as the primary process sees it. */
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import type { Clock } from '#shared/clock.ts';
import { entryUrl } from '#shared/program.ts';

import type { LogOutput } from '../telemetry/log-output.ts';
import type { ProcessMetrics } from './combine.ts';
import type {
  OwnReport,
  PackedConfig,
  ToChild,
  Topic,
  ToPrimary,
  WholeReport,
} from './messages.ts';
import { createRequests } from './requests.ts';

/** How a process ended. */
export type MemberEnd = {
  pid: number | undefined;
  /** Exit code or signal. */
  cause: string;
  /** Whether it served at all. */
  hasListened: boolean;
  /** Why it could not start, where it said so. */
  detail?: string;
  /** It could not start since the store could not be opened, or not be written. */
  isStoreAway: boolean;
};

export type Member = {
  pid: number | undefined;
  isListening(): boolean;
  /** When it said something last, else when it was started; by the monotonic clock. */
  heardAtMs(): number;
  /** What it said last, for as long as it says nothing newer. */
  lastMetrics: ProcessMetrics;
  /** Resolves when it is gone and its log has been read. */
  ended: Promise<MemberEnd>;
  /** Undefined when it cannot tell. Never resolves when the process hangs or ends. */
  ask<Named extends Topic>(topic: Named): Promise<OwnReport[Named] | undefined>;
  reload(config: PackedConfig): void;
  /** Lets it finish what it is at, also when it only starts. */
  stop(): void;
  kill(): void;
};

export type MemberDeps = {
  /** What it serves with. */
  config: () => PackedConfig;
  logOutput: Pick<LogOutput, 'write'>;
  clock: Pick<Clock, 'monotonicMs'>;
  onListening: (url: string) => void;
  /** What the service as a whole says. */
  whole: (topic: Topic) => Promise<WholeReport[Topic]>;
};

/** Starts one more process, which runs `child-main.ts` with the options of this one. */
export function startMember(deps: MemberDeps): Member {
  cluster.schedulingPolicy = cluster.SCHED_RR;
  cluster.setupPrimary({
    exec: fileURLToPath(entryUrl('compose/processes/child-main')),
    args: [],
    serialization: 'advanced',
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const worker = cluster.fork();
  const requests = createRequests<OwnReport[Topic] | undefined>();
  const state: MemberState = { hasListened: false, heardAtMs: deps.clock.monotonicMs() };
  const send = (message: ToChild): void => {
    if (worker.isConnected()) worker.send(message, () => undefined);
  };
  worker.on('error', () => undefined); // `close` follows, and tells
  worker.on('message', (message: ToPrimary) => {
    state.heardAtMs = deps.clock.monotonicMs();
    if (message.kind === 'own') requests.settle(message.id, message.report);
    else void hear(message, { deps, state, send });
  });
  worker.process.stdout?.setEncoding('utf8');
  forwardLines(worker, deps.logOutput);
  return {
    pid: worker.process.pid,
    isListening: () => state.hasListened && worker.isConnected(),
    heardAtMs: () => state.heardAtMs,
    lastMetrics: [],
    ended: endOf(worker, state),
    ask: async <Named extends Topic>(topic: Named) =>
      (await requests.ask((id) => send({ kind: 'ask', id, topic }))) as
        | OwnReport[Named]
        | undefined,
    reload: (config) => send({ kind: 'reload', config }),
    stop: () => send({ kind: 'stop' }),
    kill: () => void worker.process.kill('SIGKILL'),
  };
}

type MemberState = {
  hasListened: boolean;
  heardAtMs: number;
  failure?: Extract<ToPrimary, { kind: 'failed' }>;
};

type Hearing = { deps: MemberDeps; state: MemberState; send: (message: ToChild) => void };

async function hear(
  message: Exclude<ToPrimary, { kind: 'own' }>,
  { deps, state, send }: Hearing,
): Promise<void> {
  switch (message.kind) {
    case 'hello':
      return send({ kind: 'start', config: deps.config() });
    case 'listening':
      state.hasListened = true;
      return deps.onListening(message.url);
    case 'failed':
      state.failure = message;
      return;
    case 'ask': {
      const { id, topic } = message;
      const report = await deps.whole(topic).catch(() => undefined);
      send({ kind: 'whole', id, report });
    }
  }
}

async function endOf(worker: Worker, state: MemberState): Promise<MemberEnd> {
  const [code, signal] = (await once(worker.process, 'close')) as [number | null, string | null];
  const { hasListened, failure } = state;
  return {
    pid: worker.process.pid,
    cause: signal ?? `exit code ${code}`,
    hasListened,
    detail: failure?.detail,
    isStoreAway: failure?.isStoreAway === true,
  };
}

/** Lines of several processes in one pipe would be torn: this process writes all of them. */
function forwardLines({ process: { stdout } }: Worker, output: Pick<LogOutput, 'write'>): void {
  let begun = '';
  stdout?.on('data', (text: string) => {
    const lines = `${begun}${text}`.split('\n');
    begun = lines.pop() ?? '';
    for (const line of lines) output.write(`${line}\n`);
  });
}
