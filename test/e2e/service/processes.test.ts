/** `serve --processes 2`: one port, one store, several processes, and it is one service all the same. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import {
  createWorld,
  crmOne,
  deletionOf,
  environment,
  openLead,
  revokeKey,
  signatureOf,
  storeFileOf,
} from '../support/world.ts';
import { endLease } from '../../support/end-lease.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { runHere } from '../support/command.ts';
import { childrenOf, listening, trackport, type Trackport } from '../support/process.ts';

/** Connections, so many that the system hands some of them to each process. */
const MANY = 40;

const settings = {
  server: { logLevel: 'debug' },
  partners: {
    'crm-one': {
      ...crmOne,
      deletions: { actions: ['relabel', 'close', 'comment'] },
    },
  },
};

type Together = { run: Trackport; url: string };

async function serveTogether(
  config: string,
  { processes = 2, preload }: { processes?: number; preload?: URL } = {},
): Promise<Together> {
  const run = startTogether(config, { processes, preload });
  return { run, url: await listening(run) };
}

function startTogether(
  config: string,
  {
    processes = 2,
    port = 0,
    preload,
  }: { processes?: number; port?: number; preload?: URL | undefined },
): Trackport {
  const args = ['--config', config, '--port', String(port), '--processes', String(processes)];
  return trackport(['serve', ...args], {
    environment: { ...environment, ...(preload && { NODE_OPTIONS: `--import=${preload.href}` }) },
  });
}

type Answer = { status: number; body: string; headers: IncomingHttpHeaders };

/** A request on a connection of its own, so that any process may get it. */
function call(
  url: string,
  { method = 'GET', headers = {}, body }: { method?: string; headers?: object; body?: string } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      { method, agent: new Agent(), headers: { ...headers } },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => (text += part));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, body: text, headers: response.headers }),
        );
        response.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

const times = <T>(count: number, make: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, make));

async function leadIds(url: string, key: string): Promise<number[]> {
  const { status, body } = await call(`${url}/api/v1/leads`, { headers: { 'x-api-key': key } });
  if (status !== 200) throw new Error(`leads answered ${status}`);
  const { items } = JSON.parse(body) as { items: { id: string }[] };
  return items.map(({ id }) => Number(id));
}

async function deleteLead(url: string, number: number): Promise<number> {
  const body = JSON.stringify(deletionOf(number));
  const { status } = await call(`${url}/api/v1/webhooks/partners/crm-one/deletions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...signatureOf(body) },
    body,
  });
  return status;
}

/** The processes that have logged a request, or the one fact. */
function pidsOf(run: Trackport, message: string): Set<unknown> {
  return new Set(
    run
      .log()
      .filter(({ msg }) => msg === message)
      .map(({ pid }) => pid),
  );
}

type Readiness = { status: string; checks: Record<string, { state: string; detail?: string }> };

async function readiness(url: string): Promise<Readiness> {
  return JSON.parse((await call(`${url}/readyz`)).body) as Readiness;
}

/** The value of one series, named with its labels. */
function valueIn(text: string, series: string): number {
  const line = text.split('\n').find((line) => line.startsWith(`${series} `));
  return Number(line?.split(' ').at(-1));
}

async function countOfReads(url: string): Promise<number> {
  const { body } = await call(`${url}/metrics`);
  return valueIn(
    body,
    'trackport_http_request_duration_seconds_count{method="GET",route="/api/v1/leads",status="200"}',
  );
}

async function standbyOf(run: Trackport): Promise<unknown> {
  return (await run.logged('another process works on this store: this one stands by'))['pid'];
}

function edit(file: string, section: string, keys: Record<string, unknown>): void {
  const all = JSON.parse(readFileSync(file, 'utf8')) as Record<string, object>;
  writeFileSync(file, JSON.stringify({ ...all, [section]: { ...all[section], ...keys } }));
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('all serve one port, and what one learns the next request to any other knows', async () => {
  const { tracker, config, key } = await createWorld(settings);
  const numbers = [
    openLead(tracker).number,
    openLead(tracker).number,
    openLead(tracker).number,
    openLead(tracker).number,
  ];
  const { run, url } = await serveTogether(config, { processes: 3 });
  expect(run.log().filter(({ msg }) => msg === 'listening')).toHaveLength(1);

  for (const ids of await times(MANY, () => leadIds(url, key)))
    expect(new Set(ids)).toEqual(new Set(numbers));
  await eventually(() => expect(pidsOf(run, 'request answered').size).toBe(3));

  const deleted = numbers.slice(1);
  for (const number of deleted) {
    expect(await deleteLead(url, number)).toBe(202);
    for (const ids of await times(6, () => leadIds(url, key))) expect(ids).not.toContain(number);
  }
  await eventually(() => {
    for (const number of deleted) expect(tracker.readIssue(number)?.comments).toHaveLength(1);
  });

  await revokeKey(config);
  await eventually(async () => {
    const responses = await times(6, () =>
      call(`${url}/api/v1/leads`, { headers: { 'x-api-key': key } }),
    );
    expect(responses.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 401]);
  });
});

test('health, readiness and metrics are those of the whole, whichever process is asked', async () => {
  const { tracker, config, key } = await createWorld({
    ...settings,
    server: { logLevel: 'debug', opsPort: 0 },
  });
  const number = openLead(tracker).number;
  const gate = tracker.hold({ method: 'PATCH' });
  const opsPort = await freePort();
  edit(config, 'server', { opsPort });
  const { run, url } = await serveTogether(config);
  const opsUrl = `http://127.0.0.1:${opsPort}`;
  await times(MANY, () => leadIds(url, key));
  await eventually(() => expect(pidsOf(run, 'request answered').size).toBe(2));
  expect(await deleteLead(url, number)).toBe(202);
  await gate.arrived();

  for (const { status, checks } of await times(4, () => readiness(opsUrl))) {
    expect(status).toBe('ready');
    expect(checks).toMatchObject({
      store: { state: 'ok' },
      worker: { state: 'ok' },
      processes: { state: 'ok', detail: '2 of 2 processes serve.' },
    });
  }
  for (const { status, body } of await times(4, () => call(`${opsUrl}/healthz`)))
    expect([status, body]).toEqual([200, expect.stringMatching(/^\{"status":"ok",/)]);
  const reads =
    'trackport_http_request_duration_seconds_count{method="GET",route="/api/v1/leads",status="200"}';
  for (const text of await times(4, async () => (await call(`${opsUrl}/metrics`)).body)) {
    expect(valueIn(text, 'trackport_worker_active')).toBe(1);
    expect(valueIn(text, 'trackport_deletions_open')).toBe(1);
    expect(valueIn(text, 'trackport_processes')).toBe(2);
    expect(valueIn(text, reads)).toBe(MANY);
  }
  gate.open();
});

test('a process that is killed is replaced; nothing later fails, and no count falls', async () => {
  const { tracker, config, key } = await createWorld(settings);
  const [number, other] = [openLead(tracker).number, openLead(tracker).number];
  const { run, url } = await serveTogether(config);
  await times(8, () => leadIds(url, key));
  const standby = await standbyOf(run);
  const worker = childrenOf(run.child.pid).find((pid) => pid !== standby) ?? 0;
  const counted = await countOfReads(url);

  // The worker dies with a comment under way that the tracker gets and nobody hears of.
  const gate = tracker.hold({ method: 'POST', path: '/comments$' });
  expect(await deleteLead(url, number)).toBe(202);
  await gate.arrived();
  process.kill(worker, 'SIGKILL');
  const ended = await run.logged('a process has ended: another one follows');
  expect(ended).toMatchObject({ level: 'error', endedPid: worker, cause: 'SIGKILL' });
  endLease(storeFileOf(config));
  gate.open();
  for (const ids of await times(8, () => leadIds(url, key))) expect(ids).toEqual([other]);
  expect(await countOfReads(url)).toBe(counted + 8);
  await eventually(async () => {
    const { checks } = await readiness(url);
    expect(checks['worker']?.state).toBe('ok');
    expect(checks['processes']?.detail).toBe('2 of 2 processes serve.');
    expect(tracker.readIssue(number)?.state).toBe('closed');
  });
  expect(tracker.readIssue(number)?.comments).toHaveLength(1);
  expect(childrenOf(run.child.pid)).toHaveLength(2);
  expect(run.log().filter(({ msg }) => msg === 'listening')).toHaveLength(1);
});

test('a process that hangs is killed and replaced, and another one works meanwhile', async () => {
  const { tracker, config, key } = await createWorld({
    ...settings,
    server: { logLevel: 'debug', hangTimeout: '10s' },
  });
  const [number, other] = [openLead(tracker).number, openLead(tracker).number];
  const { run, url } = await serveTogether(config);
  await times(8, () => leadIds(url, key));
  const standby = await standbyOf(run);
  const worker = childrenOf(run.child.pid).find((pid) => pid !== standby) ?? 0;
  const gate = tracker.hold({ method: 'GET', path: '/comments$' });
  expect(await deleteLead(url, number)).toBe(202);
  await gate.arrived();
  process.kill(worker, 'SIGSTOP'); // about to write its comment
  gate.open();

  const lineOf = (message: string, fields: object): void =>
    expect(run.log()).toContainEqual(expect.objectContaining({ msg: message, ...fields }));
  await eventually(() => {
    lineOf('a process hangs: it is ended', { level: 'error', hungPid: worker });
    lineOf('a process has ended: another one follows', { endedPid: worker, cause: 'SIGKILL' });
  });
  endLease(storeFileOf(config));
  await eventually(() => {
    expect(childrenOf(run.child.pid)).toHaveLength(2);
    expect(childrenOf(run.child.pid)).not.toContain(worker);
    expect(tracker.readIssue(number)?.state).toBe('closed');
    expect(tracker.readIssue(number)?.comments).toHaveLength(1);
  });
  await eventually(async () => {
    const { checks } = await readiness(url);
    expect(checks['processes']?.detail).toBe('2 of 2 processes serve.');
    expect(checks['worker']?.state).toBe('ok');
  });
  for (const ids of await times(8, () => leadIds(url, key))) expect(ids).toEqual([other]);
  const { body } = await call(`${url}/metrics`);
  expect(valueIn(body, 'trackport_processes_hung_total')).toBeGreaterThan(0);
}, 120_000);

test('a stop drains the requests in flight in all processes, and /readyz says so beside a portal', async () => {
  const identity = { issuer: 'http://127.0.0.1:9', audience: 'trackport' };
  const portal = { clientId: 'portal' };
  const { tracker, config, key } = await createWorld({ identity, portal });
  const number = openLead(tracker).number;
  const { run, url } = await serveTogether(config);
  const gate = tracker.hold({ path: '/issues$' });
  const inFlight = times(MANY, () => leadIds(url, key));
  await gate.arrived(2); // each process asks the tracker for itself, and each only once
  run.child.kill('SIGTERM');
  await eventually(async () => expect((await readiness(url)).status).toBe('stopping'));
  gate.open();
  for (const ids of await inFlight) expect(ids).toEqual([number]);
  expect(await run.exited).toBe(0);
  expect(run.stderr()).toBe('');
  expect(run.log().at(-1)).toMatchObject({ msg: 'stopped', pid: run.child.pid });
});

test('a second signal ends all processes at once', async () => {
  const { tracker, config, key } = await createWorld();
  const { run, url } = await serveTogether(config);
  const gate = tracker.hold({ path: '/issues$' });
  const outcome = leadIds(url, key).catch((error: unknown) => error);
  await gate.arrived();
  const children = childrenOf(run.child.pid);
  expect(children).toHaveLength(2);
  run.child.kill('SIGTERM');
  await run.logged('stopping');
  await eventually(() => {
    run.child.kill('SIGTERM');
    expect(run.child.exitCode).toBe(1);
  });
  expect(await outcome).toBeInstanceOf(Error);
  await eventually(() => expect(children.filter(isAlive)).toEqual([]));
  gate.open();
});

test('SIGHUP reloads all with one line, and who is replaced serves with what is in force', async () => {
  const { config, key } = await createWorld({ server: { logLevel: 'info' } });
  const { run, url } = await serveTogether(config);
  const limits = async (): Promise<string[]> =>
    times(4, async () => {
      const headers = { 'x-api-key': key };
      return String((await call(`${url}/api/v1/me`, { headers })).headers['ratelimit-policy']);
    });
  edit(config, 'consumers', { limitPerMinute: 77 });
  edit(config, 'leads', { url: true });
  run.child.kill('SIGHUP');
  const line = await run.logged('configuration reloaded: some keys need a restart');
  expect(line).toMatchObject({ changed: 'consumers.limitPerMinute', restartNeeded: 'leads.url' });
  for (const policy of await limits()) expect(policy).toContain('77');
  expect(run.log().filter(({ msg }) => String(msg).startsWith('configuration '))).toHaveLength(1);

  writeFileSync(config, 'nonsense: true');
  const [first = 0] = childrenOf(run.child.pid);
  process.kill(first, 'SIGKILL');
  await run.logged('a process has ended: another one follows');
  await eventually(async () => {
    const { checks } = await readiness(url);
    expect(checks['processes']?.detail).toBe('2 of 2 processes serve.');
  });
  for (const policy of await limits()) expect(policy).toContain('77');

  renameSync(storeFileOf(config), `${storeFileOf(config)}.away`);
  mkdirSync(storeFileOf(config));
  const [next = 0] = childrenOf(run.child.pid);
  process.kill(next, 'SIGKILL');
  const reason = expect.stringContaining('store');
  await eventually(() =>
    expect(run.log()).toContainEqual(expect.objectContaining({ cause: 'exit code 1', reason })),
  );
  expect(run.stderr()).toBe('');
});

test('what keeps the service from starting ends the whole, as with one process', async () => {
  const { config } = await createWorld();
  const taken = createServer();
  await new Promise<void>((resolve) => void taken.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void taken.close());
  const { port } = taken.address() as AddressInfo;
  const inUse = startTogether(config, { port });
  expect(await inUse.exited).toBe(1);
  expect(inUse.stderr()).toBe(
    `Port ${port} on 127.0.0.1 is in use. Stop what uses it, or choose another port with --port (0 picks a free one).\n`,
  );

  const none = startTogether(config, { processes: 0 });
  expect(await none.exited).toBe(2);
  expect(none.stderr()).toContain('expected a whole number from 1 to 64');

  const preload = new URL('../support/crash-child.ts', import.meta.url);
  const crashing = startTogether(config, { preload });
  expect(await crashing.exited).toBe(1);
  expect(crashing.stderr()).toBe(
    'A process of the service ended before it served (exit code 7). Standard error and the log say more.\n',
  );

  edit(config, 'server', { prot: 1, processes: 2 });
  const wrong = await runHere(['serve', '--config', config], environment);
  expect(wrong.code).toBe(2);
  expect(wrong.stderr.match(/unknown key/g)).toHaveLength(1);

  const sandbox = await runHere(['serve', '--processes', '2']);
  expect(sandbox.code).toBe(2);
  expect(sandbox.stderr).toContain('The sandbox is one process');
});
