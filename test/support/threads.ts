/** Threads that all tests of a process share: one that starts takes longer than most tests do. */
import { createBodyReaders } from '#adapters/threads/body-readers.ts';
import { createSpecThreads } from '#adapters/threads/spec-threads.ts';
import { createThread } from '#adapters/threads/thread.ts';
import type { Clock } from '#shared/clock.ts';
import { entryUrl } from '#shared/program.ts';
import type * as functions from '#compose/body-thread.ts';
import { createFakeClock } from './clock.ts';

/** On a clock that stands still no job is given up and no thread is ended. */
const clock = createFakeClock();

export const specThreads = createSpecThreads({ clock });

/** The thread of bodies as the service has it. */
export const startBodyThread = (of: Clock = clock) =>
  createThread<typeof functions>({ module: entryUrl('compose/body-thread'), clock: of });

export const bodyReaders = createBodyReaders(startBodyThread());
