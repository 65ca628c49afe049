import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { readFileSync } from 'node:fs';
import { startTracker } from '#sandbox/tracker/tracker.ts';
import { expect, onTestFinished, test, vi } from 'vitest';
import { compose, TRACKER_TOKEN } from '../support/composed.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { configFile, listening, runTrackport, trackport } from '../support/process.ts';
import { createWorld, environment, openLead, serve } from '../support/world.ts';

async function readyStatus(url: string): Promise<number> {
  return (await fetch(`${url}/readyz`)).status;
}

test('SIGTERM: readyz turns 503, the request in flight is answered, exit 0', async () => {
  const { tracker, config, key } = await createWorld();
  openLead(tracker, { title: 'Demo' });
  const { run, url } = await serve(config);
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

test('a second signal ends the process at once', async () => {
  const { tracker, config, key } = await createWorld();
  const { run, url } = await serve(config);
  const gate = tracker.hold({ path: '/issues$' });
  const inFlight = fetch(`${url}/api/v1/leads`, { headers: { 'x-api-key': key } });
  const outcome = inFlight.catch((error: unknown) => error);
  await gate.arrived();
  run.child.kill('SIGTERM');
  await eventually(async () => expect(await readyStatus(url)).toBe(503));

  await eventually(() => {
    run.child.kill('SIGTERM');
    expect(run.child.exitCode).toBe(1);
  });

  expect(await outcome).toBeInstanceOf(TypeError);
  gate.open();
});

test('a stop delay: not ready at once, served to its end, each response ends its connection', async () => {
  const tracker = await startTracker({ tokens: [{ token: TRACKER_TOKEN, can: 'write' }] });
  onTestFinished(() => tracker.close());
  const { service, clock, get, url } = await compose({
    apiUrl: tracker.url,
    settings: { server: { stopDelay: '30s' } },
  });
  expect((await get('/api/v1/leads')).headers.get('connection')).toBe('keep-alive');

  const onStopped = vi.fn();
  void service.stop().then(onStopped);
  expect(await readyStatus(url)).toBe(503);
  await clock.advance(29_999);
  const served = await get('/api/v1/leads');
  expect(served.status).toBe(200);
  expect(served.headers.get('connection')).toBe('close');
  expect(onStopped).not.toHaveBeenCalled();
  while (onStopped.mock.calls.length === 0) await clock.advance(20);
  await expect(get('/api/v1/leads')).rejects.toThrow('fetch failed');
});

test('a port in use is one line with a remedy, exit 1', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => void taken.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void taken.close());
  const { port } = taken.address() as { port: number };
  const { config } = await createWorld();

  const { code, stderr } = await runTrackport(
    ['serve', '--config', config, '--port', String(port)],
    { environment },
  );

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

test('the port is that of --port, then PORT, then server.port', async () => {
  const { config } = await createWorld({ server: { port: 1 } });
  const withBoth = trackport(['serve', '--config', config, '--port', '0'], {
    environment: { ...environment, PORT: '2' },
  });
  expect(await listening(withBoth)).toMatch(/^http:\/\/127\.0\.0\.1:\d{3,5}$/);
  withBoth.child.kill('SIGKILL');
  const withVariable = trackport(['serve', '--config', config], {
    environment: { ...environment, PORT: '0' },
  });
  expect(await listening(withVariable)).toMatch(/^http:\/\/127\.0\.0\.1:\d{3,5}$/);
});

const auth = { repository: 'acme/leads', auth: { token: 't' } };

test('a configuration that is wrong prints every problem and exits 2', async () => {
  const file = configFile({ server: { prot: 8080 }, tracker: auth, leads: { freshFor: 15 } });

  const { code, stdout, stderr } = await runTrackport(['serve', '--config', file]);

  expect(code).toBe(2);
  expect(stdout).toBe('');
  expect(stderr).toBe(`${file} has 2 problems:
  server.prot: found an unknown key, expected one of host, port, publicUrl, trustProxy, cors, opsPort, refusedPerMinute, stopDelay, logLevel (did you mean port?)
  leads.freshFor: found 15, expected a duration from 0s to 1h, such as 500ms, 15s, 5m, 24h or 30d
`);
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

test('a PostgreSQL server that is not there ends the start in one line without its password', async () => {
  const file = configFile({
    tracker: auth,
    store: { url: 'postgres://u:secret-word@127.0.0.1:1/x' },
    secretKey: Buffer.alloc(32, 1).toString('base64'),
  });
  const { code, stderr } = await runTrackport(['serve', '--config', file]);
  expect(code).toBe(1);
  expect(stderr).toContain('postgres://127.0.0.1:1/x cannot be used');
  expect(stderr).not.toContain('secret-word');
});

test('SIGUSR1 opens no inspector', async () => {
  const { config } = await createWorld();
  const { run, url } = await serve(config);
  run.child.kill('SIGUSR1');
  expect(await readyStatus(url)).toBe(200);
  run.child.kill('SIGTERM');
  expect(await run.exited).toBe(0);
  expect(run.stderr()).toBe('');
});
