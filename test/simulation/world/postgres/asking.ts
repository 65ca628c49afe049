import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';

export type Asked = { url: string; sql: string; values: readonly unknown[] };

/** Runs a statement while this thread stands still: nothing happens between the question and its rows. */
export type Ask = <Row>(url: string, sql: string, ...values: unknown[]) => Row[];

/** Makes the thread that talks to servers meanwhile. */
export function createAsk(): Ask {
  const { port1: own, port2: port } = new MessageChannel();
  const answered = new Int32Array(new SharedArrayBuffer(4));
  const thread = new Worker(new URL('asking-thread.ts', import.meta.url), {
    workerData: { port, answered },
    transferList: [port],
  });
  thread.unref();
  return <Row>(url: string, sql: string, ...values: unknown[]) => {
    Atomics.store(answered, 0, 0);
    own.postMessage({ url, sql, values } satisfies Asked);
    Atomics.wait(answered, 0, 0);
    const answer = receiveMessageOnPort(own) as { message: { rows: Row[]; error?: Error } };
    if (answer.message.error) throw answer.message.error;
    return answer.message.rows;
  };
}
