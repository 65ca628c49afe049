import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

import { listenError, type PortSetter } from '../server/start-error.ts';

export type PortRequest = { host: string; port: number; setBy?: PortSetter };

/** The port if it can be listened on, a free one for 0. @throws {StartError} */
export async function probePort(request: PortRequest): Promise<number> {
  const { host, port } = request;
  const server = createServer();
  try {
    server.listen({ host, port });
    await once(server, 'listening');
    const { port: picked } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    return picked;
  } catch (error) {
    throw listenError(error, request);
  }
}
