import { once } from 'node:events';
import { connect } from 'node:net';
import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { runTrackport } from '../support/process.ts';
import { createWorld, openLead, serve } from '../support/world.ts';
import { openServer } from '../../support/http/local-server.ts';

async function readyStatus(url: string): Promise<number> {
  return (await fetch(`${url}/readyz`)).status;
}

test('SIGTERM: readyz turns 503, the request in flight is answered, exit 0; SIGUSR1 opens no inspector', async () => {
  const { tracker, config, key } = await createWorld();
  openLead(tracker, { title: 'Demo' });
  const { run, url } = await serve(config);
  run.child.kill('SIGUSR1');
  expect(await readyStatus(url)).toBe(200);
  const gate = tracker.hold({ path: '/issues$' });
  const inFlight = fetch(`${url}/api/v1/leads`, { headers: { 'x-api-key': key } });
  await gate.arrived();

  run.child.kill('SIGTERM');

  await eventually(async () => expect(await readyStatus(url)).toBe(503));
  gate.open();
  expect((await inFlight).status).toBe(200);
  expect(await run.exited).toBe(0);
  expect(run.stderr()).toBe('');
  const messages = run.log().map(({ msg }) => msg);
  expect(messages).toContain('stopping');
  expect(messages.at(-1)).toBe('stopped');
});

test('a port in use is one line with a remedy, exit 1', async () => {
  const { port } = new URL(await openServer(() => undefined));
  const { config } = await createWorld();

  const { code, stderr } = await runTrackport(['serve', '--config', config, '--port', port]);

  expect(code).toBe(1);
  expect(stderr).toBe(
    `Port ${port} on 127.0.0.1 is in use. Stop what uses it, or choose another port with --port (0 picks a free one).\n`,
  );
});

test('operations move to a port of their own and tell of the stop until its end, SIGINT’s too', async () => {
  const { tracker, config, key } = await createWorld({
    server: { opsPort: await freePort() },
  });
  const { run, url } = await serve(config);
  const opsPort = /"opsPort":(\d+)/.exec(readFileSync(config, 'utf8'))?.[1];
  const opsUrl = `http://127.0.0.1:${opsPort}`;
  expect((await fetch(`${url}/readyz`)).status).toBe(404);
  expect(await readyStatus(opsUrl)).toBe(200);
  const gate = tracker.hold({ path: '/issues$' });
  const inFlight = fetch(`${url}/api/v1/leads`, { headers: { 'x-api-key': key } });
  await gate.arrived();
  run.child.kill('SIGINT');
  await eventually(async () => expect(await readyStatus(opsUrl)).toBe(503));
  gate.open();
  expect((await inFlight).status).toBe(200);
  expect(await run.exited).toBe(0);
});

test('a caller who never finishes does not hold the stop up', async () => {
  const { config } = await createWorld();
  const { run, url } = await serve(config);
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined);
  const signature = `X-Hub-Signature-256: sha256=${'ab'.repeat(32)}`; // what lacks one is refused unread
  socket.write(
    `POST /api/v1/webhooks/github HTTP/1.1\r\nHost: x\r\n${signature}\r\nContent-Type: application/json\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n{`,
  );
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(answer.toString()).toContain('100 Continue'); // the request is in flight now
  run.child.kill('SIGTERM');
  expect(await run.exited).toBe(0);
});
