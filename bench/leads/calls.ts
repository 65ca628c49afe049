import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { callControl } from '#sandbox/instruments/remote-controls.ts';
import type { BenchRow } from '../row.ts';
import { serve } from '../service.ts';
import type { BenchEngine } from '../stores.ts';
import {
  billedCalls,
  byTwenty,
  inLeadWorld,
  type LeadWorld,
  octokitOf,
  queryOf,
  readJson,
  WEBHOOK_SECRET,
} from './world.ts';

export type CallScale = { leads: number; reads: number; pollSeconds: number };

const LABELS = ['partner-program', 'priority: high', 'priority: low'];
const source = 'call log of the tracker';

/** What twenty consumers cost of the tracker's quota: as fast as they can, and polling. */
export async function measureCalls(engine: BenchEngine, scale: CallScale): Promise<BenchRow[]> {
  return inLeadWorld(engine, scale.leads, async (world) => [
    await inService(world, (url) => measureReads(world, url, scale)),
    await inService(world, (url) => measureChanges(world, url, scale)),
  ]);
}

async function inService(
  { config }: LeadWorld,
  measure: (url: string) => Promise<BenchRow>,
): Promise<BenchRow> {
  const service = await serve(config);
  try {
    return await measure(service.url);
  } finally {
    await service.stop();
  }
}

/** Twenty consumers with mixed filters, each reading as fast as it can. */
async function measureReads(
  world: LeadWorld,
  url: string,
  { reads }: CallScale,
): Promise<BenchRow> {
  const { key, tracker } = world;
  await callControl(tracker.url, 'calls.clear');
  await byTwenty(reads, (at) => readJson(`${url}/api/v1/leads?${queryOf(at)}`, key));
  const ours = await billedCalls(tracker.url);
  await callControl(tracker.url, 'calls.clear');
  const octokit = octokitOf(world);
  const sample = Math.ceil(reads / 10);
  await byTwenty(sample, (at) => octokit.request(directQuery(at)));
  const direct = (await billedCalls(tracker.url)) * (reads / sample);
  return {
    what: `billed calls per ${reads} mixed reads by 20 consumers`,
    value: ours,
    source,
    note: `${direct} with Octokit directly`,
  };
}

/** One change a second with webhooks on, while twenty consumers poll every five seconds. */
async function measureChanges(
  { key, tracker }: LeadWorld,
  url: string,
  { pollSeconds, leads }: CallScale,
): Promise<BenchRow> {
  await callControl(tracker.url, 'addWebhook', `${url}/api/v1/webhooks/github`, WEBHOOK_SECRET);
  const poll = (at: number): Promise<unknown> =>
    readJson(`${url}/api/v1/leads?${queryOf(at)}`, key);
  await byTwenty(40, poll);
  await callControl(tracker.url, 'calls.clear');
  let polls = 0;
  for (let second = 0; second < pollSeconds; second += 1) {
    const tickAt = performance.now() + 1000;
    await change(tracker.url, second, leads);
    const consumers = Array.from({ length: 20 }, (_, consumer) => consumer);
    const due = consumers.filter((consumer) => (consumer + second) % 5 === 0);
    await Promise.all(due.map(poll));
    polls += due.length;
    await sleep(Math.max(0, tickAt - performance.now()));
  }
  const anHour = (count: number): number => Math.round((count * 3600) / pollSeconds);
  return {
    what: 'billed calls an hour: a change a second, webhooks, 20 consumers polling',
    value: anHour(await billedCalls(tracker.url)),
    wanted: { below: 5000 },
    source: `${source}, ${pollSeconds} s`,
    note: `${anHour(polls)} directly`,
  };
}

export async function change(trackerUrl: string, second: number, leads: number): Promise<void> {
  const number = 1 + ((second * 7919) % leads);
  if (second % 4 === 0) {
    const issue = { title: 'New lead', labels: ['approved'], body: '' };
    await callControl(trackerUrl, 'createIssue', issue);
  } else if (second % 4 === 1)
    await callControl(trackerUrl, 'setState', number, second % 8 === 1 ? 'closed' : 'open');
  else await callControl(trackerUrl, 'relabel', number, { add: [LABELS[second % LABELS.length]] });
}

function directQuery(at: number): string {
  const ours = new URLSearchParams(queryOf(at));
  const labels = ['approved', ...(ours.get('label')?.split(',') ?? [])].join(',');
  const query = new URLSearchParams({
    labels,
    state: ours.get('state') ?? 'open',
    per_page: ours.get('limit') ?? '50',
  });
  const since = ours.get('since');
  if (since !== null) query.set('since', since);
  return `GET /repos/acme/leads/issues?${query.toString()}`;
}
