import { setTimeout as sleep } from 'node:timers/promises';
import { readControl } from '#sandbox/instruments/remote-controls.ts';
import type { IssueRecord } from '#sandbox/tracker/world/model.ts';
import { deleteLead, isOpen, partners } from '../partner.ts';
import { output, type Running, start } from '../processes.ts';
import { createKey, serve, untilDirectoryIsComplete, writeConfig } from '../service.ts';
import type { BenchEngine } from '../stores.ts';

/** Instances on one store, and a tracker that only they use. */
export type Fleet = { tracker: Running; services: Running[]; key: string };

export type FleetOptions = {
  /** Issues of the tracker. */
  issues: number;
  /** Further options of the program, one list for each instance. */
  instances: readonly (readonly string[])[];
  /** How old what they serve may be. */
  freshFor: string;
};

/** Starts it, with the directory complete; `work` begins then, and everything ends after it. */
export async function inFleet<T>(
  { folder, newStore }: BenchEngine,
  { issues, instances, freshFor }: FleetOptions,
  work: (fleet: Fleet) => Promise<T>,
): Promise<T> {
  const running: Running[] = [];
  const add = async (starting: Promise<Running>): Promise<Running> => {
    const started = await starting;
    running.push(started);
    return started;
  };
  try {
    const tracker = await add(start(['bench/tracker-process.ts', `--issues=${issues}`]));
    const config = writeConfig(folder, {
      storeUrl: await newStore(),
      trackerUrl: tracker.url,
      settings: { partners, leads: { freshFor }, tracker: { writeInterval: '0s' } },
    });
    const key = await createKey(config);
    const services: Running[] = [];
    for (const args of instances) services.push(await add(serve(config, args)));
    for (const { url } of services) await untilDirectoryIsComplete(url);
    return await work({ tracker, services, key });
  } finally {
    for (const one of running.reverse()) await one.stop();
  }
}

/** Processor time in ms that services have taken so far. */
export function processorMsOf(services: readonly Running[]): number {
  return services.reduce((sum, service) => sum + service.processorMs(), 0);
}

/** What `read-load.ts` does: it ends after so many requests or seconds. */
export type ReadLoad = {
  urls: string[];
  /** Read in turn. */
  paths: string[];
  key: string;
  /** Shared among the addresses. */
  connections: number;
  requests?: number;
  seconds?: number;
};

type ReadResult = { calls: number; seconds: number; processorMs: number };

/** Reads from another process. @throws Error when a read fails */
export async function readAll(load: ReadLoad): Promise<ReadResult> {
  const text = await output(['bench/instances/read-load.ts', JSON.stringify(load)]);
  const result = JSON.parse(text) as ReadResult & { refused: number };
  if (result.refused > 0) throw new Error(`${result.refused} reads failed`);
  return result;
}

/** The list of leads, and one of them. */
export async function hotPaths({ services, key }: Fleet): Promise<string[]> {
  const list = '/api/v1/leads';
  const response = await fetch(`${services[0]?.url}${list}`, { headers: { 'x-api-key': key } });
  const { items } = (await response.json()) as { items: { id: string }[] };
  return [list, `${list}/${items[0]?.id}`];
}

/** Numbers of open leads, as the tracker has them. */
export async function openLeads({ tracker }: Fleet): Promise<number[]> {
  const issues = await readControl<IssueRecord>(tracker.url, 'issues');
  const leads = issues.filter(
    ({ state, labels, isPullRequest }) =>
      state === 'open' && !isPullRequest && labels.some(({ name }) => name === 'approved'),
  );
  return leads.map(({ number }) => number);
}

const SENDERS = 8;
const LOOK_EVERY_MS = 20;

/** Has leads deleted, each by the next instance, and waits until all are closed. */
export async function deleteLeads(fleet: Fleet, numbers: readonly number[]): Promise<void> {
  const { services } = fleet;
  const left = numbers.map((number, at) => ({ number, url: services[at % services.length]?.url }));
  await Promise.all(
    Array.from({ length: SENDERS }, async () => {
      for (let next = left.pop(); next; next = left.pop())
        await deleteLead(next.url ?? '', next.number);
    }),
  );
  for (const number of numbers)
    while (await isOpen(fleet.tracker.url, number)) await sleep(LOOK_EVERY_MS);
}
