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

export type RawResponse = { status: number; headers: Map<string, string>; body: string };

const HEAD = /^HTTP\/1\.1 (\d{3}) [\x20-\x7e]*\r\n((?:[!#$%&'*+.^_`|~\w-]+: [^\r\n]*\r\n)*)\r\n/;

/** The responses of a connection, interim ones left out. @throws {Error} when one is no HTTP */
export function responsesIn({ received, isCut }: Exchange): RawResponse[] {
  const responses: RawResponse[] = [];
  let rest = received;
  while (rest !== '') {
    const [head, digits = '', lines = ''] = HEAD.exec(rest) ?? [];
    if (head === undefined) {
      if (isCut) return responses;
      throw new Error(`no head of a response: ${JSON.stringify(rest.slice(0, 200))}`);
    }
    rest = rest.slice(head.length);
    const status = Number(digits);
    if (status < 200) continue;
    const headers = headersOf(lines);
    const length = status === 204 ? 0 : Number(headers.get('content-length'));
    if (!Number.isInteger(length)) throw new Error(`no length: ${head}`);
    if (rest.length < length && !isCut) throw new Error(`cut off: ${head}${rest}`);
    responses.push({ status, headers, body: rest.slice(0, length) });
    rest = rest.slice(length);
  }
  return responses;
}

function headersOf(lines: string): Map<string, string> {
  const headers = new Map<string, string>();
  for (const line of lines.split('\r\n').slice(0, -1)) {
    const name = line.slice(0, line.indexOf(':')).toLowerCase();
    if (headers.has(name)) throw new Error(`twice: ${line}`);
    headers.set(name, line.slice(line.indexOf(':') + 2));
  }
  return headers;
}
