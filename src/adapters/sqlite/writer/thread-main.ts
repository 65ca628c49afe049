/** What the writing thread runs. */
import { parentPort, workerData } from 'node:worker_threads';
import {
  type Connection,
  createLocalWriter,
  openConnection,
  type Writer,
} from '../connection/connection.ts';
import { isDiskFailure } from '../connection/errors.ts';
import {
  decode,
  encode,
  type Message,
  OPENED,
  type ThreadOptions,
  toErrorData,
  type WriterRequest,
  type WriterResult,
} from './messages.ts';
import { artifactWrites } from '../../store/artifact/writes.ts';
import { changeWrites } from '../../store/change-log.ts';
import { claimWrites } from '../../store/claim/claim-store.ts';
import { consumerWrites } from '../../store/consumer/writes.ts';
import { directoryWrites } from '../../store/directory/writes.ts';
import { idempotencyWrites } from '../../store/idempotency-store.ts';
import { leadFeedWrites } from '../../store/lead-feed/writes.ts';
import { receiptWrites } from '../../store/receipt/receipt-store.ts';
import { keyWrites } from '../../store/secret-key.ts';
import type { Writes } from '../../store/session.ts';
import { sessionWrites } from '../../store/session-store.ts';
import { trafficWrites } from '../../store/traffic-store.ts';
import { workWrites } from '../../store/work/writes.ts';
import { checkWrites } from '../../store/write-check.ts';

const respond = createResponder((results) => {
  parentPort?.postMessage(encode(results));
});

/** What a thread finds by its name: the writes of each store. */
const writesByName: Readonly<Record<string, Writes>> = {
  artifact: artifactWrites,
  change: changeWrites,
  claim: claimWrites,
  consumer: consumerWrites,
  directory: directoryWrites,
  idempotency: idempotencyWrites,
  'lead-feed': leadFeedWrites,
  receipt: receiptWrites,
  'secret-key': keyWrites,
  session: sessionWrites,
  traffic: trafficWrites,
  work: workWrites,
  'write-check': checkWrites,
};

/** One connection, and a local writer that everybody shares. */
function serveWrites({ path, lockWaitMs }: ThreadOptions): Connection | undefined {
  try {
    const connection = openConnection(path);
    const writer = createLocalWriter(connection, { lockWaitMs });
    serve(writer);
    respond({ id: OPENED, kind: 'done', value: undefined });
    return connection;
  } catch (error) {
    respond({ id: OPENED, kind: 'refused', error: toErrorData(error) });
    return undefined;
  }
}

/** Results that come up in one go, as those of one commit do, leave in one message. */
function createResponder(post: (results: readonly WriterResult[]) => void) {
  let results: WriterResult[] = [];
  return (result: WriterResult): void => {
    results.push(result);
    if (results.length > 1) return;
    queueMicrotask(() => {
      const all = results;
      results = [];
      post(all);
    });
  };
}

function serve(writer: Writer): void {
  const work = async (request: WriterRequest): Promise<unknown> => {
    if (request.kind === 'truncate-log') return writer.truncateLog();
    if (request.kind === 'call') return callWrite(writer, request);
    await writer.close();
    return parentPort?.unref();
  };
  parentPort?.on('message', (message: Message<WriterRequest>) => {
    for (const request of decode(message)) void respondWith(request.id, work(request));
  });
}

function callWrite(
  writer: Writer,
  { store, name, input }: Extract<WriterRequest, { kind: 'call' }>,
): Promise<unknown> {
  const write = writesByName[store]?.[name];
  if (!write) throw new Error(`the writing thread knows no write ${store}.${name}`);
  return writer.call({ store, name }, write, input);
}

async function respondWith(id: number, working: Promise<unknown>): Promise<void> {
  try {
    respond({ id, kind: 'done', value: await working });
  } catch (error) {
    if (isDiskFailure(error)) throw error; // which ends the thread, and the process with it
    respond({ id, kind: 'refused', error: toErrorData(error) });
  }
}

/** Undefined when the store could not be opened; whoever started the thread is told why. */
export const connection = serveWrites(workerData as ThreadOptions);
