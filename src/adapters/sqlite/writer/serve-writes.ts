import { parentPort } from 'node:worker_threads';
import { everyWrite } from '../../store/every-write.ts';
import { claimWrites } from '../claims/write-family.ts';
import { directoryWrites } from '../directory/write-family.ts';
import { receiptWrites } from '../receipt/write-family.ts';
import { workWrites } from '../work/write-family.ts';
import { checkWrites, leaseWrites } from '../store-writes.ts';
import { openConnection } from '../connection/connection.ts';
import type { Connection } from '../connection/connection.ts';
import { createLocalWriter } from './local-writer.ts';
import { decode, encode, OPENED, toErrorData, transferOf } from './messages.ts';
import type { Message, ThreadOptions, WriterRequest, WriterResult } from './messages.ts';
import type { FamilyName, Write, WriteFamily, Writer, Writes } from './writer.ts';

const everyFamily = [
  claimWrites,
  directoryWrites,
  receiptWrites,
  workWrites,
  leaseWrites,
  checkWrites,
];

/** Every family by its name: what a thread can write. */
const families: ReadonlyMap<FamilyName, WriteFamily<never, Writes>> = new Map(
  everyFamily.map((family) => [family.name, family]),
);

type Requested = Exclude<WriterRequest, { kind: 'open' }>;

const respond = createResponder((results) => {
  const message = encode(results);
  parentPort?.postMessage(message, transferOf(message));
});

/**
 * The inside of the writing thread: one connection, and a local writer that everybody shares. Undefined
 * when the store could not be opened; whoever started the thread is told why.
 */
export function serveWrites({ path, lockWaitMs }: ThreadOptions): Connection | undefined {
  try {
    const connection = openConnection(path);
    connection.waitAtMost(0); // the writer waits, and not in a statement
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
  const opened = new Map<number, Write<Writes>>();
  const work = async (request: Requested): Promise<unknown> => {
    if (request.kind === 'truncate-log') return writer.truncateLog();
    if (request.kind === 'foreign-version') return writer.foreignVersion();
    if (request.kind === 'write')
      return opened.get(request.family)?.(request.name, ...(request.input as never[]));
    if (request.kind === 'call') return callWrite(writer, request);
    await writer.close();
    return parentPort?.unref();
  };
  parentPort?.on('message', (message: Message<WriterRequest>) => {
    for (const request of decode(message))
      if (request.kind === 'open') opened.set(request.family, openFamily(writer, request));
      else void respondWith(request.id, work(request));
  });
}

function callWrite(
  writer: Writer,
  { store, name, input }: Extract<WriterRequest, { kind: 'call' }>,
): Promise<unknown> {
  const write = everyWrite[store]?.[name];
  if (!write) throw new Error(`the writing thread knows no write ${store}.${name}`);
  return writer.call({ store, name }, write, input);
}

function openFamily(
  writer: Writer,
  { name, options }: Extract<WriterRequest, { kind: 'open' }>,
): Write<Writes> {
  const family = families.get(name);
  if (!family) throw new Error(`the writing thread knows no family ${name}`);
  return writer.open(family, options as never);
}

async function respondWith(id: number, working: Promise<unknown>): Promise<void> {
  try {
    respond({ id, kind: 'done', value: await working });
  } catch (error) {
    respond({ id, kind: 'refused', error: toErrorData(error) });
  }
}
