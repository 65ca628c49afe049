/** The inside of a thread of `thread.ts`: runs functions of the module that it was started for. */
import { parentPort, workerData } from 'node:worker_threads';
import { type ErrorCode, type ProblemOptions, isTrackportError } from '#shared/errors.ts';

export type Job = { name: string; input: unknown };

export type JobResult =
  | { kind: 'done'; value: unknown }
  | { kind: 'refused'; code: ErrorCode; options: ProblemOptions }
  /** A mistake of ours: named by its class alone, for a message may quote the body. */
  | { kind: 'failed'; name: string };

type Work = (input: unknown) => unknown;

const functions = (await import(workerData as string)) as Record<string, Work>;

parentPort?.on('message', (job: Job) => {
  void resultOf(job).then((result) => parentPort?.postMessage(result));
});

// Tells that it can begin: until now the time was not the job's.
parentPort?.postMessage(undefined);

async function resultOf({ name, input }: Job): Promise<JobResult> {
  try {
    return { kind: 'done', value: await functions[name]?.(input) };
  } catch (error) {
    if (!isTrackportError(error))
      return { kind: 'failed', name: error instanceof Error ? error.name : typeof error };
    const { code, detail, errors, challenge } = error;
    return { kind: 'refused', code, options: { detail, errors, challenge } };
  }
}
