import { connect } from 'node:net';
import { untilDirectoryIsComplete } from '../../test/support/directory-complete.ts';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { callControl } from '#sandbox/instruments/remote-controls.ts';
import { partners } from '../partner.ts';
import { type Running, start } from '../processes.ts';
import { type BenchRow, median } from '../row.ts';
import { createKey, serve } from '../service.ts';
import type { BenchEngine } from '../stores.ts';
import {
  billedCalls,
  inLeadWorld,
  type LeadWorld,
  queryOf,
  readJson,
  WEBHOOK_SECRET,
} from './world.ts';

export type FeedScale = {
  issues: number;
  /** For the latency, and for what a change costs. */
  changes: number;
  /** A multiple of 100: so many has one consumer at most. */
  listeners: number;
  /** Time for which they are watched while nothing changes. */
  idleSeconds: number;
  /** Time for which followers, and then pollers, are counted. */
  followSeconds: number;
};

const LISTENERS_OF_ONE = 100;
const FOLLOWERS = 10;
const STREAM = 'raw sockets, server-sent events';

/** Cost of the lead feed for its followers, the tracker, and whatever runs beside it. */
export async function measureFeed(engine: BenchEngine, scale: FeedScale): Promise<BenchRow[]> {
  const measure = async (world: LeadWorld): Promise<BenchRow[]> => {
    await callControl(world.tracker.url, 'setLatency', 0);
    const service = await serve(world.config);
    const hook = `${service.url}/api/v1/webhooks/github`;
    await callControl(world.tracker.url, 'addWebhook', hook, WEBHOOK_SECRET);
    try {
      const { items } = (await readJson(
        `${service.url}/api/v1/leads?limit=100`,
        world.key,
      )) as Leads;
      const at = { world, service, scale, numbers: items.map(({ id }) => Number(id)) };
      const first = await openListener(service.url, world.key);
      await untilDirectoryIsComplete(service.url);
      const latency = await measureLatency(at, first);
      first.close();
      return [latency, ...(await measureListeners(at)), await compareCalls(at)];
    } finally {
      await service.stop();
    }
  };
  return inLeadWorld(engine, scale.issues, measure, { partners });
}

type Leads = { items: { id: string }[] };

/** `numbers`: of leads. */
type Measured = { world: LeadWorld; service: Running; scale: FeedScale; numbers: number[] };

type Listener = {
  /** Resolves when this text has come. */
  until(text: string): Promise<void>;
  close(): void;
};

/** Follows from now on; resolves when it has a cursor. */
async function openListener(url: string, key: string): Promise<Listener> {
  const { port } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1').setEncoding('latin1');
  let wanted = 'id: ';
  let received = '';
  let come: () => void = () => undefined;
  socket.on('data', (part: string) => {
    received += part;
    if (!received.includes(wanted)) return;
    received = '';
    come();
  });
  const until = (text: string): Promise<void> =>
    new Promise((resolve) => {
      wanted = text;
      come = resolve;
    });
  const begun = until(wanted);
  socket.write(
    `GET /api/v1/leads/changes HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\nX-API-KEY: ${key}\r\n\r\n`,
  );
  await begun;
  return { until, close: () => void socket.destroy() };
}

/** From the webhook's leaving to the item. */
async function measureLatency(measured: Measured, listener: Listener): Promise<BenchRow> {
  const times = await changeSome(measured, [listener]);
  return {
    what: 'a change on the tracker, from its webhook to a listener, median',
    value: median(times),
    unit: 'ms',
    wanted: { atMost: 50 },
    source: `${STREAM}; the tracker answers at once`,
    note: `the slowest of ${times.length}: ${Math.max(...times).toFixed(0)} ms`,
  };
}

/** Edits leads, and each time waits until all listeners have it: how long that took, in ms. */
async function changeSome(
  { world, scale, numbers }: Measured,
  listeners: readonly Listener[],
): Promise<number[]> {
  const times: number[] = [];
  for (let at = 0; at < scale.changes; at += 1) {
    const title = `Changed ${performance.now()}`;
    const all = listeners.map((listener) => listener.until(title));
    const startedAt = performance.now();
    await callControl(world.tracker.url, 'editIssue', numbers[at % numbers.length], { title });
    await Promise.all(all);
    times.push(performance.now() - startedAt);
  }
  return times;
}

/** Memory of many listeners that wait, and the work of a change for all of them. */
async function measureListeners(measured: Measured): Promise<BenchRow[]> {
  const { world, service, scale } = measured;
  const { listeners: count, changes, idleSeconds } = scale;
  const keys: string[] = [];
  while (keys.length < count / LISTENERS_OF_ONE) keys.push(await createKey(world.config));
  const before = service.residentMiB();
  const listeners = await openMany(service.url, keys);
  await callControl(world.tracker.url, 'calls.clear');
  await sleep(idleSeconds * 1000);
  const calls = await billedCalls(world.tracker.url);
  const kib = ((service.residentMiB() - before) * 1024) / count;
  const processorBefore = service.processorMs();
  const times = await changeSome(measured, listeners);
  const processorMs = (service.processorMs() - processorBefore) / changes;
  for (const listener of listeners) listener.close();
  const bareKib = await measureBare(keys, idleSeconds);
  const source = `${count.toLocaleString('en')} listeners of ${count / LISTENERS_OF_ONE} consumers`;
  return [
    {
      what: 'resident memory of an idle listener ÷ bare Fastify',
      value: kib / bareKib,
      wanted: { atMost: 2 },
      source: `${source}, /proc/PID/status`,
      note: `${kib.toFixed(0)} KiB ÷ ${bareKib.toFixed(0)} KiB; ${calls} billed calls in ${idleSeconds} s`,
    },
    {
      what: 'processor time of a change that all listeners get',
      value: processorMs,
      unit: 'ms',
      source: `${source}, /proc/PID/stat`,
      note: `all had it after ${median(times).toFixed(0)} ms`,
    },
  ];
}

async function openMany(url: string, keys: readonly string[]): Promise<Listener[]> {
  const listeners: Listener[] = [];
  for (const key of keys)
    for (let own = 0; own < LISTENERS_OF_ONE; own += 1)
      listeners.push(await openListener(url, key));
  return listeners;
}

/** KiB of resident memory for each listener of a server that keeps nothing of it. */
async function measureBare(keys: readonly string[], idleSeconds: number): Promise<number> {
  const bare = await start(['bench/bare-server.ts']);
  const before = bare.residentMiB();
  const listeners = await openMany(bare.url, keys);
  await sleep(idleSeconds * 1000);
  const kib = ((bare.residentMiB() - before) * 1024) / listeners.length;
  for (const listener of listeners) listener.close();
  await bare.stop();
  return kib;
}

/** The tracker's quota, for those who follow and those who poll, while a lead changes each second. */
async function compareCalls({ world, service, scale }: Measured): Promise<BenchRow> {
  const { followSeconds: seconds, issues } = scale;
  const { tracker, key } = world;
  const billed = async (each: (second: number) => Promise<unknown>): Promise<number> => {
    await callControl(tracker.url, 'calls.clear');
    for (let second = 0; second < seconds; second += 1) {
      const tickAt = performance.now() + 1000;
      await change(tracker.url, second, issues);
      await each(second);
      await sleep(Math.max(0, tickAt - performance.now()));
    }
    return billedCalls(tracker.url);
  };
  const followers = await followBy(service.url, key);
  const followed = await billed(async () => undefined);
  for (const follower of followers) follower.close();
  const polled = await billed((second) =>
    Promise.all(
      Array.from({ length: FOLLOWERS }, async (_, poller) => {
        if ((poller + second) % 5 > 0) return;
        await readJson(`${service.url}/api/v1/leads?${queryOf(poller)}`, key);
      }),
    ),
  );
  return {
    what: `billed calls of ${FOLLOWERS} followers ÷ those of ${FOLLOWERS} who poll every 5 s`,
    value: followed / polled,
    wanted: { atMost: 0.3 },
    source: `call log of the tracker, a change a second, ${seconds} s`,
    note: `${followed} ÷ ${polled}`,
  };
}

const followBy = (url: string, key: string): Promise<Listener[]> =>
  Promise.all(Array.from({ length: FOLLOWERS }, () => openListener(url, key)));

const LABELS = ['partner-program', 'priority: high', 'priority: low'];

async function change(trackerUrl: string, second: number, leads: number): Promise<void> {
  const number = 1 + ((second * 7919) % leads);
  if (second % 4 === 0) {
    const issue = { title: 'New lead', labels: ['approved'], body: '' };
    await callControl(trackerUrl, 'createIssue', issue);
  } else if (second % 4 === 1)
    await callControl(trackerUrl, 'setState', number, second % 8 === 1 ? 'closed' : 'open');
  else await callControl(trackerUrl, 'relabel', number, { add: [LABELS[second % LABELS.length]] });
}
