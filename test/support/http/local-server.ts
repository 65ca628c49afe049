import { once } from 'node:events';
import { createServer, type RequestListener, Server as HttpServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { onTestFinished } from 'vitest';

/** Serves on 127.0.0.1 until the running test ends; the address, without a path. */
export async function openServer(serving: RequestListener | Server): Promise<string> {
  const server = typeof serving === 'function' ? createServer(serving) : serving;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.close();
    if (server instanceof HttpServer) server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
