/** What the writing thread runs. */
import { workerData } from 'node:worker_threads';
import type { ThreadOptions } from './messages.ts';
import { serveWrites } from './serve-writes.ts';

serveWrites(workerData as ThreadOptions);
