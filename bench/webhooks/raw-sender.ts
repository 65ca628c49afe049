import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';

/** What became of the requests that were sent. */
export type Sent = { calls: number; refused: number; seconds: number };

export type SendOptions = {
  port: number;
  connections: number;
  /** The next request as bytes; undefined ends the connection that asks. */
  next: () => Buffer | undefined;
};

/**
 * Sends over keep-alive connections, one request at a time on each. Raw sockets, because an HTTP
 * client would cost more than the server that is measured. Answers must have a `Content-Length`.
 */
export async function sendAll({ port, connections, next }: SendOptions): Promise<Sent> {
  const sent = { calls: 0, refused: 0 };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: connections }, () => sendOver({ port, next }, sent)));
  return { ...sent, seconds: (performance.now() - startedAt) / 1000 };
}

function sendOver(
  { port, next }: Omit<SendOptions, 'connections'>,
  sent: { calls: number; refused: number },
): Promise<void> {
  const socket = connect(port, '127.0.0.1').setNoDelay(true);
  const sendNext = (): void => {
    const request = next();
    if (request) socket.write(request);
    else socket.end();
  };
  let received = '';
  return new Promise<void>((resolve, reject) => {
    socket.on('error', reject).on('close', () => resolve());
    socket.on('connect', sendNext);
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      const headEnd = received.indexOf('\r\n\r\n');
      const length = /content-length: (\d+)/i.exec(received)?.[1];
      if (headEnd < 0 || received.length < headEnd + 4 + Number(length)) return;
      sent.calls += 1;
      if (!/^HTTP\/1\.1 20[02]/.test(received)) sent.refused += 1;
      received = '';
      sendNext();
    });
  });
}
