/** One process that serves, as the primary process sees it. */
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { entryUrl } from '#shared/program.ts';

import type { LogOutput } from '../telemetry/log-output.ts';
import {
  type ChildCalls,
  createIpc,
  type Ipc,
  type IpcHandlers,
  type PrimaryCalls,
  type ProcessMetrics,
} from './ipc.ts';

export type Member = {
  pid: number | undefined;
  isListening(): boolean;
  call: Ipc<ChildCalls>;
  /** What came of its start; never resolves when it ended before. */
  started: Promise<ChildCalls['start'] | undefined>;
  /** Resolves with the exit code or the signal when it is gone and its log has been read. */
  ended: Promise<string>;
  /** What it said last, for as long as it says nothing newer. */
  lastMetrics: ProcessMetrics;
  kill(): void;
};

export type MemberDeps = {
  /** What it serves with, packed. */
  config: string;
  logOutput: Pick<LogOutput, 'write'>;
  /** What the service as a whole says. */
  whole: IpcHandlers<PrimaryCalls>;
};

/** Starts one more process, which runs `child-main.ts` with the options of this one. */
export function startMember({ config, logOutput, whole }: MemberDeps): Member {
  cluster.schedulingPolicy = cluster.SCHED_RR;
  cluster.setupPrimary({
    exec: fileURLToPath(entryUrl('compose/processes/child-main')),
    args: [],
    serialization: 'advanced',
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const worker = cluster.fork();
  worker.on('error', () => undefined); // `close` follows, and tells
  forwardLines(worker, logOutput);
  const call = createIpc<ChildCalls, PrimaryCalls>(worker, whole);
  let hasListened = false;
  return {
    pid: worker.process.pid,
    isListening: () => hasListened && worker.isConnected(),
    call,
    started: call('start', config).then((start) => {
      hasListened = start !== undefined && 'url' in start;
      return start;
    }),
    ended: once(worker.process, 'close').then(([code, signal]) =>
      String(signal ?? `exit code ${code}`),
    ),
    lastMetrics: [],
    kill: () => void worker.process.kill('SIGKILL'),
  };
}

/** Lines of several processes in one pipe would be torn: this process writes all of them. */
function forwardLines({ process: { stdout } }: Worker, output: Pick<LogOutput, 'write'>): void {
  let begun = '';
  stdout?.setEncoding('utf8').on('data', (text: string) => {
    const lines = `${begun}${text}`.split('\n');
    begun = lines.pop() ?? '';
    for (const line of lines) output.write(`${line}\n`);
  });
}
