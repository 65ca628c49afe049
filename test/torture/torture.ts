import { writeFileSync } from 'node:fs';
import { operatorsOf } from '../support/partners.ts';
import { untilDirectoryIsComplete } from '../support/directory-complete.ts';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildIfChanged } from '../../scripts/build.js';
import { seededRandom } from '#sandbox/instruments/faults.ts';
import { SECOND } from '#shared/clock.ts';
import type { OnProgress } from '#shared/progress.ts';
import { scratchFolder } from '../support/at-exit.ts';
import { freePort } from '../support/free-port.ts';
import { fileCertificates } from './certificates.ts';
import { killAgainAndAgain, restartTheStore } from './chaos.ts';
import { everyFault } from './faults.ts';
import type { Findings } from './findings.ts';
import { completeFiles, killInstance, startInstance, stopInstance } from './instances.ts';
import { lookPatiently } from './look.ts';
import { issueOf, lookalikeOf, personAt } from './people.ts';
import { createFollower } from './follower.ts';
import { createReader } from './reader.ts';
import {
  configOf,
  emptyReport,
  hasHappened,
  type Instance,
  type Least,
  restartsOf,
  type Run,
  type TortureReport,
  WEBHOOK_SECRET,
} from './run.ts';
import { type RemoteTracker, startRemoteTracker } from './service.ts';
import { openStore, type StoreChoice, type TortureStore } from './store.ts';
import { floodWithEvents, keepEditing, keepReading, sendDeletions } from './traffic.ts';
import { findViolations } from './verdict.ts';

type TortureOptions = {
  /** Time in which deletions come in and processes are killed. */
  seconds: number;
  seed: number;
  /** Both go on until this has happened as well, for ten times as long at most. Default: nothing. */
  least?: Least;
  /** Of one store; default 1, and SQLite has one. */
  instances?: number;
  /** Default SQLite. */
  store?: StoreChoice;
  /** Told once a second. */
  onProgress?: OnProgress;
};

const BYSTANDERS = 20;
const SENDERS = 2;
const SETTLE_SECONDS_MAX = 300;
const WAITS_FOR_PARTNER = 'an event waits: the configuration lacks its partner';
/** Factor by which the havoc may take longer. */
const PATIENCE = 10;

/**
 * Kills the whole program at random moments, again and again, while partners send deletions and a flood of events,
 * salespeople edit the leads, or take their approval away, and the tracker fails 30 % of the calls; a sales
 * tool keeps a copy by the lead feed. With several instances the
 * others go on, and PostgreSQL crashes now and then. Then lets it finish and looks at every issue, receipt
 * and byte that is left.
 */
export async function torture(options: TortureOptions): Promise<TortureReport> {
  await buildIfChanged(); // the benches call this, too, without what a run of tests sets up
  await using held = new AsyncDisposableStack();
  const { path: folder } = held.use(scratchFolder('torture'));
  const store = await openStore(options.store ?? { engine: 'sqlite' }, folder);
  held.defer(() => store.close());
  const tracker = await startRemoteTracker();
  held.defer(async () => void (await tracker.stop()));
  const run = await createRun(options, { folder, store, tracker });
  held.defer(async () => {
    for (const { child } of run.instances) await child?.kill();
  });
  await play(run, options);
  return run.report;
}

async function createRun(
  { seed, instances = 1 }: TortureOptions,
  parts: { folder: string; store: TortureStore; tracker: RemoteTracker },
): Promise<Run> {
  const ports = await freePorts(instances);
  const urls = ports.map((port) => `http://127.0.0.1:${port}`);
  return {
    ...parts,
    publicUrl: urls[0] ?? '',
    instances: urls.map((url, index): Instance => ({
      url,
      config: path.join(parts.folder, `trackport-${index}.yaml`),
      child: undefined,
      ...(index > 0 && index === urls.length - 1 && { lacks: 'crm-two' }),
    })),
    random: seededRandom(seed),
    acknowledged: [],
    addresses: new Map(),
    flood: [],
    output: '',
    isOver: () => false,
    report: emptyReport(),
  };
}

async function play(run: Run, options: TortureOptions): Promise<void> {
  const { tracker, report, instances } = run;
  for (const { config, lacks } of instances) writeFileSync(config, configOf(run, lacks));
  const bystanders = await seedBystanders(tracker);
  // The first one works: the one that lacks a partner.
  for (const instance of instances.toReversed()) await startInstance(run, instance);
  await untilDirectoryIsComplete(run.publicUrl);
  await tracker.control('calls.clear');
  const reader = await createReader(run);
  const follower = createFollower(run, reader.key);
  for (const fault of everyFault()) await tracker.control('fault', fault);
  await wreakHavoc(run, options, () =>
    Promise.all([keepReading(run, reader), follower.keepFollowing()]),
  );
  await countCalls(run);
  await tracker.control('clearFaults');
  // Whatever they had in hand, and a pause, goes with them.
  for (const instance of instances) await killInstance(run, instance);
  for (const instance of instances) await startInstance(run, instance);
  await settleAll(run, options.onProgress);
  for (const { url } of instances) await reader.read(url);
  await follower.catchUp();
  for (const id of reader.shownAgain()) report.violations.push(`lead ${id} was shown again`);
  for (const id of reader.shownClaimed())
    report.violations.push(`lead ${id} was shown though it was claimed`);
  const certificates = await fileCertificates(run);
  for (const instance of instances) await stopInstance(run, instance);
  report.waitedForPartner = run.output.split(WAITS_FOR_PARTNER).length - 1;
  report.violations.push(...(await findViolations({ ...run, bystanders, certificates })));
}

/** The schedule of kills and restarts follows from the seed alone, whatever the traffic does. */
async function wreakHavoc(
  run: Run,
  { seconds, seed, least = {}, onProgress }: TortureOptions,
  read: () => Promise<unknown>,
): Promise<void> {
  const until = Date.now() + seconds * SECOND;
  const patientUntil = until + (PATIENCE - 1) * seconds * SECOND;
  run.isOver = () => Date.now() >= (hasHappened(run.report, least) ? until : patientUntil);
  const tell = (): void =>
    onProgress?.(run.report.acknowledged, 0, 'deletions acknowledged', progressOf(run, until));
  const ticker = setInterval(tell, SECOND);
  const senders = Array.from({ length: SENDERS }, () => sendDeletions(run));
  await Promise.all([
    ...senders,
    read(),
    keepEditing(run),
    floodWithEvents(run),
    addWebhook(run, seconds / 2),
    completeFiles(run, (seconds * SECOND) / 2),
    killAgainAndAgain(run, seededRandom(seed + 1)),
    restartTheStore(run, seededRandom(seed + 2)),
  ]).finally(() => clearInterval(ticker));
}

/** The first half goes without the webhook, and readers and the directory find out by themselves. */
async function addWebhook({ tracker, publicUrl }: Run, afterSeconds: number): Promise<void> {
  await sleep(afterSeconds * SECOND);
  await tracker.control('addWebhook', `${publicUrl}/api/v1/webhooks/github`, WEBHOOK_SECRET);
}

/** Calls while faults were in force. Half of the faults show in no status. */
async function countCalls({ tracker, report }: Run): Promise<void> {
  const calls = await tracker.list<{ status: number }>('calls');
  report.trackerCalls = calls.length;
  report.trackerFailures = calls.filter(({ status }) => status === 0 || status >= 300).length;
}

/** All different. */
async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}

/**
 * People that nobody deletes, though others are named in their leads by visitors and salespeople; and
 * pull requests that look like leads of those who are deleted.
 */
async function seedBystanders(tracker: RemoteTracker): Promise<{ number: number }[]> {
  const issues = Array.from({ length: BYSTANDERS }, (_, index) => {
    const bystander = { email: `bystander-${index}@example.com`, objectId: `bystander-${index}` };
    const issue = issueOf(bystander, lookalikeOf(personAt(index)));
    const note = `A colleague of ${personAt(index).email}.`;
    return {
      ...issue,
      body: index % 2 === 0 ? `${note}\n\n${issue.body}` : `${issue.body}\n\n${note}`,
      ...(index % 4 === 0 && { ...issueOf(personAt(index)), isPullRequest: true }),
    };
  });
  await tracker.control('seedIssues', issues);
  return tracker.list('issues');
}

/** Dead letters are replayed, as an operator would after an outage; nothing else is helped. */
async function settleAll(run: Run, onProgress?: OnProgress): Promise<void> {
  const deadline = Date.now() + SETTLE_SECONDS_MAX * SECOND;
  const { acknowledged } = run.report;
  for (;;) {
    const { open, replayed, lacking } = await lookPatiently(run, settle);
    if (lacking > 0)
      run.report.violations.push(`${lacking} dead letters for want of their partner`);
    run.report.replayed += replayed;
    onProgress?.(Math.max(0, acknowledged - open), acknowledged, 'deletions settled');
    if (open === 0 && replayed === 0) return;
    if (Date.now() > deadline) {
      run.report.violations.push(`${open} events are not settled`);
      return;
    }
    await sleep(100);
  }
}

type Settled = { open: number; replayed: number; lacking: number };

async function settle(findings: Findings): Promise<Settled> {
  const left = await findings.open();
  const lacking = await findings.deadForWantOfPartner();
  if (left > 0) return { open: left, replayed: 0, lacking };
  const actor = { kind: 'cli', subject: 'torture' } as const;
  const { queued: replayed } = await operatorsOf(findings.db, Date.now()).replayAll(
    { outcome: 'FAILED' },
    { actor },
  );
  return { open: left, replayed, lacking };
}

function progressOf({ report }: Run, until: number): string {
  const left = Math.max(0, Math.round((until - Date.now()) / SECOND));
  return `${report.kills} kills, ${restartsOf(report)} restarts of the store, ${left} s left`;
}
