/** Threads that all tests of a process share: one that starts takes longer than most tests do. */
import { createBodyReaders } from '#adapters/threads/body-readers.ts';
import { createSpecThreads } from '#adapters/threads/spec-threads.ts';
import { createFakeClock } from './clock.ts';

/** On a clock that stands still no job is given up and no thread is ended. */
const clock = createFakeClock();

export const specThreads = createSpecThreads({ clock });
export const bodyReaders = createBodyReaders({ clock });
