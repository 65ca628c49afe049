/** A program that gives a thread one job. */
import { createThread } from '#adapters/threads/thread.ts';
import { systemClock } from '#shared/clock.ts';
import type * as functions from './functions.ts';

const module = new URL('functions.ts', import.meta.url);
const thread = createThread<typeof functions>({ module, clock: systemClock });
console.log(await thread.run('echo', 'done'));
