import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { startConfigured } from '#compose/service.ts';
import { loadConfig } from '#config/load.ts';
import { createFakeClock } from '../../support/clock.ts';
import { logOutputTo } from '../../support/log-output.ts';
import { migratedPostgres } from '../../support/postgres/database.ts';
import { openTracker, trackerAt } from '../support/world.ts';

/**
 * Opens a way to the server of this address that passes nothing on any more once it is cut, and tells nobody. It cuts
 * itself at bytes that hold `cutAt`.
 */
async function openWay(url: string, cutAt?: string) {
  const { hostname, port } = new URL(url);
  const sockets: Socket[] = [];
  const muted = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    const onward = connect(Number(port), hostname);
    for (const one of [socket, onward]) sockets.push(one.on('error', () => undefined));
    socket.on('data', (bytes) => {
      if (cutAt !== undefined && bytes.includes(cutAt)) cut();
    });
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
    muted.resolve();
  };
  return { url: through.href, cut, muted: muted.promise };
}

/** Starts a service on the store, on a clock that stands still. */
async function start(storeUrl: string) {
  const settings = {
    store: { url: storeUrl },
    secretKey: Buffer.alloc(32, 9).toString('base64'),
    tracker: trackerAt((await openTracker()).url),
    server: { stopDelay: '5s' },
  };
  const clock = createFakeClock();
  const lines: string[] = [];
  const stopping = new AbortController();
  const starting = startConfigured(
    { clock, environment: {}, logOutput: logOutputTo((line) => void lines.push(line)) },
    () => loadConfig({ environment: {}, port: '0', settings }),
    stopping.signal,
  );
  return { clock, lines, stopping, starting };
}

test('a store that does not respond any more does not hold up a stop', async () => {
  const way = await openWay((await migratedPostgres()).url);
  const { clock, lines, starting } = await start(way.url);
  const running = await starting;
  way.cut();
  const stopped = running.stop();
  await clock.advance(14_000);
  await stopped;
  expect(lines.join('')).toContain('stopped before everything had ended');
});

test('nor does it hold up a start that is told to stop', async () => {
  const way = await openWay((await migratedPostgres()).url, 'BEGIN');
  const { clock, stopping, starting } = await start(way.url);
  const failed = starting.catch((error: unknown) => error);
  await way.muted;
  const reason = new Error('told to stop');
  stopping.abort(reason);
  await clock.advance(0);
  await clock.advance(9000);
  expect(await failed).toBe(reason);
});
