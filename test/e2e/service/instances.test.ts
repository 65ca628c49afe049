/** Several instances on one PostgreSQL behind a plain load balancer: to whoever calls it is one service. */
import type { Tracker } from '#sandbox/tracker/tracker-api.ts';
import { systemClock, sleepUntilAborted } from '#shared/clock.ts';
import { describe, expect, test, onTestFinished } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { emptyPostgres } from '../../support/postgres/database.ts';
import { freePort } from '../../support/free-port.ts';
import { listening, trackport, type Trackport } from '../support/process.ts';
import {
  createWorld,
  crmOne,
  listLeads,
  openLead,
  sendDeletion,
  workerAt,
} from '../support/world.ts';
import { Agent, type IncomingMessage, type ServerResponse, request } from 'node:http';
import { openServer } from '../../support/http/local-server.ts';
import { text } from 'node:stream/consumers';

/** A plain load balancer. */
type RoundRobin = {
  url: string;
  /** True when the backend answered its last health check with 200. */
  isHealthy(backend: string): boolean;
  /** Requests that reached a backend and got no response from it: the caller saw a 502. */
  lost(): readonly string[];
  /** Requests that a backend refused to take, so that the next one got them. */
  refused(): readonly string[];
};

const CHECK_EVERY_MS = 100;

/**
 * Deals requests out to one backend after the other, over connections that it keeps, as far as their
 * `/readyz` says 200. Only a refused connection has it try the next one: that request was never sent.
 */
async function startRoundRobin(backends: readonly string[]): Promise<RoundRobin> {
  const agent = new Agent({ keepAlive: true });
  const healthy = new Set(backends);
  const lost: string[] = [];
  const refused: string[] = [];
  const stopped = new AbortController();
  const checking = backends.map((backend) => keepChecking(backend, healthy, stopped.signal));
  let turn = 0;
  const deal = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(incoming);
    for (let tries = 0; tries < backends.length; tries += 1) {
      const candidates = backends.filter((backend) => healthy.has(backend));
      const backend = candidates[turn % candidates.length];
      turn += 1;
      if (backend === undefined) break;
      const cause = await forward({ backend, agent, body }, incoming, response);
      if (cause === undefined) return;
      const failed = `${incoming.method} ${incoming.url} at ${backend}: ${cause}`;
      if (cause === 'ECONNREFUSED') {
        refused.push(failed);
        continue;
      }
      lost.push(failed);
      response.writeHead(502).end();
      return;
    }
    response.writeHead(503).end();
  };
  onTestFinished(async () => {
    stopped.abort(new Error('the test is over'));
    await Promise.all(checking);
    agent.destroy();
  });
  return {
    url: await openServer((incoming, response) => void deal(incoming, response)),
    isHealthy: (backend) => healthy.has(backend),
    lost: () => lost,
    refused: () => refused,
  };
}

async function keepChecking(
  backend: string,
  healthy: Set<string>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const isReady = await fetch(`${backend}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) healthy.add(backend);
    else healthy.delete(backend);
    await sleepUntilAborted(systemClock, CHECK_EVERY_MS, signal);
  }
}

type Forwarding = { backend: string; agent: Agent; body: string };

/** Resolves with the cause when there is no response to pass on. */
function forward(
  { backend, agent, body }: Forwarding,
  { method, url, headers }: IncomingMessage,
  response: ServerResponse,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const { connection: _ofTheCaller, ...passed } = headers;
    const sent = request(
      new URL(url ?? '', backend),
      { agent, ...(method && { method }), headers: passed },
      (answer) => {
        const { connection: _ofTheBackend, ...rest } = answer.headers;
        response.writeHead(answer.statusCode ?? 502, rest);
        answer.pipe(response);
        answer.once('end', () => resolve(undefined));
        answer.once('error', () => resolve('cut off'));
      },
    );
    sent.once('error', ({ code = 'unknown' }: NodeJS.ErrnoException) => resolve(code));
    sent.end(body);
  });
}

/** An instance that died is followed within 17 seconds. */
const TIMEOUT_MS = 240_000;
/** Many times as long as the load balancer takes to notice, on a machine that is busy. */
const STOP_DELAY = '1s';

type Instance = { url: string; run: Trackport; restart(): Promise<void> };

type Several = {
  tracker: Tracker;
  key: string;
  balancer: RoundRobin;
  instances: Instance[];
  /** Which one works. */
  worker(): Promise<Instance>;
};

async function startSeveral(): Promise<Several> {
  const { tracker, config, key } = await createWorld({
    server: { stopDelay: STOP_DELAY },
    consumers: { limitPerMinute: 1_000_000 },
    store: { url: (await emptyPostgres()).url },
    secretKey: Buffer.alloc(32, 9).toString('base64'),
    partners: {
      'crm-one': {
        ...crmOne,
        deletions: { actions: ['relabel', 'close', 'comment'] },
      },
    },
  });
  const instances: Instance[] = [];
  while (instances.length < 3) instances.push(await startOne(config));
  return {
    tracker,
    key,
    instances,
    balancer: await startRoundRobin(instances.map(({ url }) => url)),
    worker: () =>
      eventually(async () => {
        for (const instance of instances)
          if ((await workerAt(instance.url).catch(() => undefined)) === 'ok') return instance;
        throw new Error('nobody works');
      }),
  };
}

/** An instance keeps its port over a restart. */
async function startOne(config: string): Promise<Instance> {
  const port = await freePort();
  const start = async (): Promise<Pick<Instance, 'run' | 'url'>> => {
    const run = trackport(['serve', '--config', config, '--port', String(port)]);
    return { run, url: await listening(run) };
  };
  const instance: Instance = {
    ...(await start()),
    restart: async () => {
      instance.run.child.kill('SIGTERM');
      expect(await instance.run.exited).toBe(0);
      Object.assign(instance, await start());
    },
  };
  return instance;
}

/** Deletes it as a partner does, who sends again where it was not accepted; the first other status. */
async function deleteLead(url: string, number: number): Promise<number> {
  return eventually(async () => {
    const response = await sendDeletion(url, number);
    if (await isBusy(response)) throw new Error(`the deletion of ${number} is not accepted`);
    return response.status;
  });
}

/**
 * A machine that is busy says so in time, and then nothing was accepted: that is no loss. An instance
 * that stops is to be asked by nobody.
 */
async function isBusy(response: Response): Promise<boolean> {
  return response.status === 503 && !(await response.text()).includes('stopping');
}

const idsAt = async (url: string, key: string): Promise<number[]> =>
  (await listLeads(url, key)).map(({ id }) => Number(id)).sort((left, right) => left - right);

async function untilDeletedOnce(tracker: Tracker, numbers: readonly number[]): Promise<void> {
  await eventually(() => {
    for (const number of numbers) expect(tracker.readIssue(number)?.state).toBe('closed');
    for (const number of numbers) expect(tracker.readIssue(number)?.comments).toHaveLength(1);
  });
}

describe('three instances on PostgreSQL', { timeout: TIMEOUT_MS }, () => {
  test('a deletion that any of them takes hides the lead on all of them from the 202 on, and a kill loses nothing and does nothing twice', async () => {
    const several = await startSeveral();
    const { tracker, key, instances, balancer } = several;
    const numbers = Array.from({ length: 9 }, () => openLead(tracker).number);
    for (const { url } of instances) expect(await idsAt(url, key)).toEqual(numbers);

    const left = [...numbers];
    for (const { url } of instances) {
      expect(await deleteLead(url, left.shift() ?? 0)).toBe(202);
      for (const each of instances) expect(await idsAt(each.url, key)).toEqual(left);
    }
    expect(await deleteLead(balancer.url, left.shift() ?? 0)).toBe(202);
    for (let turns = 0; turns < 3; turns += 1) expect(await idsAt(balancer.url, key)).toEqual(left);
    await untilDeletedOnce(tracker, numbers.slice(0, 4));
    await killOneThatStandsByAndTheWorker(several, left);
  });

  test('a rolling restart under load drops no request, and shows no lead that is claimed; one that freezes is followed', async () => {
    const several = await startSeveral();
    const { tracker, key, balancer } = several;
    const remaining = Array.from({ length: 60 }, () => openLead(tracker).number);
    const kept = [openLead(tracker).number, openLead(tracker).number, openLead(tracker).number];
    const load = createLoad({ url: balancer.url, key, remaining });
    expect(await restartAllUnder(load, several)).toEqual([]);
    await freezeTheWorker(several, kept);
  });
});

async function killOneThatStandsByAndTheWorker(several: Several, numbers: readonly number[]) {
  const { tracker, key, instances, balancer } = several;
  const [first = 0, second = 0, third = 0, ...left] = numbers;
  const worker = await several.worker();
  const [standby, other] = instances.filter((instance) => instance !== worker);

  expect(await deleteLead(standby?.url ?? '', first)).toBe(202);
  standby?.run.child.kill('SIGKILL');
  await untilDeletedOnce(tracker, [first]);

  // The worker dies with a comment under way that the tracker gets and nobody hears of.
  const gate = tracker.hold({ method: 'POST', path: '/comments$' });
  expect(await deleteLead(worker.url, second)).toBe(202);
  await gate.arrived();
  expect(await deleteLead(worker.url, third)).toBe(202);
  worker.run.child.kill('SIGKILL');
  gate.open();
  await eventually(() => {
    for (const { url } of [worker, standby ?? worker]) expect(balancer.isHealthy(url)).toBe(false);
  });
  expect(await idsAt(balancer.url, key)).toEqual(left);
  expect(await several.worker()).toBe(other);
  await untilDeletedOnce(tracker, [first, second, third]);
  expect(await idsAt(balancer.url, key)).toEqual(left);
}

/** Woken up it does nothing twice. */
async function freezeTheWorker(several: Several, numbers: readonly number[]): Promise<void> {
  const { tracker, key, balancer } = several;
  const [first = 0, second = 0, left = 0] = numbers;
  const frozen = await several.worker();
  // It has looked for its comment, and is about to write it.
  const gate = tracker.hold({ method: 'GET', path: '/comments$' });
  expect(await deleteLead(frozen.url, first)).toBe(202);
  await gate.arrived();
  frozen.run.child.kill('SIGSTOP');
  gate.open();
  const awake = several.instances.find((instance) => instance !== frozen);
  // Frozen within a transaction it holds intake up until the store lets go of it.
  expect(await deleteLead(awake?.url ?? '', second)).toBe(202);
  await untilDeletedOnce(tracker, [first, second]);

  frozen.run.child.kill('SIGCONT');
  await frozen.run.logged('another instance has taken over: this one stands by');
  await eventually(() => expect(balancer.isHealthy(frozen.url)).toBe(true));
  // Its connections may be dead: 503 until it has others, and never a lead that is claimed.
  const shown = await eventually(() => idsAt(frozen.url, key));
  expect(shown.filter((number) => numbers.includes(number))).toEqual([left]);
  expect(await workerAt(frozen.url)).toBe('standby');
  await untilDeletedOnce(tracker, [first, second]);
}

/** Restarts one after the other; what whoever called meanwhile has lost. */
async function restartAllUnder(
  load: ReturnType<typeof createLoad>,
  { tracker, instances, balancer }: Several,
): Promise<unknown[]> {
  for (const instance of instances) {
    await instance.restart();
    await eventually(() => expect(balancer.isHealthy(instance.url)).toBe(true));
  }
  const { reads, deleted, failures } = await load.end();
  expect(reads).toBeGreaterThan(10);
  expect(deleted.length).toBeGreaterThan(0);
  await untilDeletedOnce(tracker, deleted);
  // One that retries nothing would have lost none either.
  return [...failures, ...balancer.lost(), ...balancer.refused()];
}

type Outcome = { reads: number; deleted: readonly number[]; failures: readonly string[] };

/** Without one the load takes the processor from those whom it is to test. */
const PAUSE_MS = 50;

/** Sales tools that read and a partner who deletes, until `end`. */
function createLoad({ url, key, remaining }: { url: string; key: string; remaining: number[] }): {
  end(): Promise<Outcome>;
} {
  const over = new AbortController();
  const deleted = new Set<number>();
  const failures: string[] = [];
  let reads = 0;
  const keepReading = async (): Promise<void> => {
    while (!over.signal.aborted) {
      await systemClock.sleep(PAUSE_MS);
      const hidden = new Set(deleted);
      const response = await fetch(`${url}/api/v1/leads`, { headers: { 'x-api-key': key } });
      if (response.status === 200) {
        const { items } = (await response.json()) as { items: { id: string }[] };
        for (const { id } of items)
          if (hidden.has(Number(id))) failures.push(`lead ${id} was shown`);
        reads += 1;
      } else if (!(await isBusy(response))) failures.push(`leads: ${response.status}`);
    }
  };
  const keepDeleting = async (): Promise<void> => {
    for (let number = remaining.shift(); number !== undefined; number = remaining.shift()) {
      if (over.signal.aborted) return;
      await systemClock.sleep(PAUSE_MS);
      const response = await sendDeletion(url, number);
      if (response.status === 202) {
        await response.arrayBuffer();
        deleted.add(number);
      } else if (!(await isBusy(response)))
        failures.push(`the deletion of ${number}: ${response.status}`);
      remaining.push(number); // who is through sends all of them again
    }
  };
  const load = [keepReading(), keepReading(), keepReading(), keepDeleting()];
  return {
    end: async () => {
      over.abort();
      await Promise.all(load);
      return { reads, deleted: [...deleted], failures };
    },
  };
}
