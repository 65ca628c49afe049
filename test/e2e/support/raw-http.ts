import { connect } from 'node:net';

/** Everything that came back on one connection until it was closed. */
export type Exchange = {
  /** As latin1. */
  received: string;
  /** The server cut the connection, so that the end of the last response may be missing. */
  isCut: boolean;
};

/** Sends bytes, then the end of the connection, and waits for the server to close its side. */
export function exchangeBytes(port: number, bytes: Uint8Array): Promise<Exchange> {
  return new Promise((resolve) => {
    let received = '';
    let isCut = false;
    const socket = connect({ port, host: '127.0.0.1' }, () => socket.end(bytes));
    socket.on('data', (chunk) => (received += chunk.toString('latin1')));
    socket.on('error', () => (isCut = true));
    socket.on('close', () => resolve({ received, isCut }));
  });
}
