/** To be preloaded into a service of several processes: each that is to serve ends at its start. */
import cluster from 'node:cluster';
import { isMainThread } from 'node:worker_threads';

if (cluster.isWorker && isMainThread) process.exit(7);
