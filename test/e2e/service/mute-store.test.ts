import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { migratedPostgres } from '../../support/postgres/database.ts';
import { compose, openTracker } from '../support/world.ts';

/** A way to the server of this address that passes nothing on any more once it is cut, and tells nobody. */
async function openWay(url: string): Promise<{ url: string; cut: () => void }> {
  const { hostname, port } = new URL(url);
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    const onward = connect(Number(port), hostname);
    for (const one of [socket, onward]) sockets.push(one.on('error', () => undefined));
    socket.pipe(onward).pipe(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const through = new URL(url);
  through.hostname = '127.0.0.1';
  through.port = String((server.address() as AddressInfo).port);
  const cut = (): void => {
    for (const socket of sockets) socket.unpipe().pause();
  };
  return { url: through.href, cut };
}

test('a store that does not respond any more does not hold up a stop', async () => {
  const way = await openWay((await migratedPostgres()).url);
  const { service, clock, logText } = await compose({
    apiUrl: (await openTracker()).url,
    settings: { store: { url: way.url }, secretKey: Buffer.alloc(32, 9).toString('base64') },
  });
  way.cut();
  const stopped = service.stop();
  await clock.advance(10_000);
  await stopped;
  expect(logText()).toContain('stopped before everything had ended');
});
