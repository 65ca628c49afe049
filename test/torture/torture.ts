import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '#sandbox/instruments/faults.ts';
import { everyFault } from './faults.ts';
import { issueOf, lookalikeOf, personAt } from './people.ts';
import { createReader } from './reader.ts';
import { configOf, configPath, databasePath, WEBHOOK_SECRET } from './run.ts';
import type { Run, TortureReport } from './run.ts';
import { startChild, startRemoteTracker } from './service.ts';
import type { Child, RemoteTracker } from './service.ts';
import { keepEditing, keepReading, sendDeletions } from './traffic.ts';
import { findViolations, openFindings } from './verdict.ts';

export type TortureOptions = {
  /** How long deletions come in and the process is killed. */
  seconds: number;
  seed: number;
  onProgress?: (line: string) => void;
};

const BYSTANDERS = 20;
const SENDERS = 2;
const SETTLE_SECONDS_MAX = 120;

/**
 * Kills the whole program at random moments, again and again, while partners send deletions,
 * salespeople edit the leads and the tracker fails 30 % of the calls. Then lets it finish and looks at every issue, receipt and
 * byte that is left.
 */
export async function torture(options: TortureOptions): Promise<TortureReport> {
  const folder = mkdtempSync(path.join(tmpdir(), 'trackport-torture-'));
  const tracker = await startRemoteTracker();
  try {
    const run: Run = {
      folder,
      port: await freePort(),
      tracker,
      random: seededRandom(options.seed),
      acknowledged: [],
      output: '',
      until: 0,
      report: {
        kills: 0,
        people: 0,
        sent: 0,
        acknowledged: 0,
        repeats: 0,
        edits: 0,
        walks: 0,
        trackerCalls: 0,
        trackerFailures: 0,
        replayed: 0,
        violations: [],
      },
    };
    await play(run, options);
    return run.report;
  } finally {
    await tracker.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function play(run: Run, { seconds, onProgress }: TortureOptions): Promise<void> {
  const { tracker, report } = run;
  writeFileSync(configPath(run), configOf(run));
  const bystanders = await seedBystanders(tracker);
  const first = await startService(run);
  await untilDirectoryIsComplete(first.url);
  await tracker.control('calls.clear');
  for (const fault of everyFault()) await tracker.control('fault', fault);
  run.until = Date.now() + seconds * 1000;
  const ticker = setInterval(() => onProgress?.(progressOf(run)), 1000);
  const reader = await createReader(configPath(run));
  const reading = keepReading(run, reader);
  const senders = Array.from({ length: SENDERS }, () => sendDeletions(run));
  const editing = keepEditing(run);
  const hooking = addWebhook(run, seconds / 2);
  const last = await killAgainAndAgain(run, first);
  await Promise.all([...senders, reading, editing, hooking]);
  await countCalls(run);
  await tracker.control('clearFaults');
  await last.kill(); // whatever it had in hand, and a pause, goes with it
  run.output += last.output();
  const calm = await startService(run);
  await settleAll(run);
  await reader.read(calm.url);
  report.walks = reader.walks();
  for (const id of reader.shownAgain()) report.violations.push(`lead ${id} was shown again`);
  run.output += calm.output();
  const code = await calm.stop();
  clearInterval(ticker);
  if (code !== 0) report.violations.push(`the last process ended with ${code}`);
  report.violations.push(
    ...(await findViolations({ ...run, bystanders, database: databasePath(run) })),
  );
}

/** The first half goes without the webhook, and readers and the directory find out by themselves. */
async function addWebhook({ tracker, port }: Run, afterSeconds: number): Promise<void> {
  await sleep(afterSeconds * 1000);
  const url = `http://127.0.0.1:${port}/api/v1/webhooks/github`;
  await tracker.control('addWebhook', url, WEBHOOK_SECRET);
}

/** Calls while faults were in force. Half of the faults show in no status. */
async function countCalls({ tracker, report }: Run): Promise<void> {
  const calls = await tracker.list<{ status: number }>('calls');
  report.trackerCalls = calls.length;
  report.trackerFailures = calls.filter(({ status }) => status === 0 || status >= 300).length;
}

function startService(run: Run): Promise<Child> {
  return startChild(['bin/trackport.js', 'serve', '--config', configPath(run)]);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => {
    server.once('listening', resolve);
  });
  const address = server.address();
  await new Promise((resolve) => {
    server.close(resolve);
  });
  if (typeof address !== 'object' || !address) throw new Error('no port');
  return address.port;
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

async function untilDirectoryIsComplete(url: string): Promise<void> {
  for (;;) {
    const answer = await fetch(`${url}/readyz`);
    const { checks } = (await answer.json()) as { checks: Record<string, { state: string }> };
    if (checks['directory']?.state === 'complete') return;
    await sleep(20);
  }
}

async function killAgainAndAgain(run: Run, first: Child): Promise<Child> {
  let child = first;
  while (Date.now() < run.until) {
    await sleep(100 + run.random() * 2400);
    await child.kill();
    run.report.kills += 1;
    run.output += child.output();
    child = await startService(run);
  }
  return child;
}

/** Dead letters are replayed, as an operator would after an outage; nothing else is helped. */
async function settleAll(run: Run): Promise<void> {
  const deadline = Date.now() + SETTLE_SECONDS_MAX * 1000;
  for (;;) {
    using findings = openFindings(databasePath(run));
    if (findings.open() === 0) {
      const { queued: replayed } = await findings.replayDeadLetters();
      run.report.replayed += replayed;
      if (replayed === 0) return;
    }
    if (Date.now() > deadline) {
      run.report.violations.push(`${findings.open()} events are not settled`);
      return;
    }
    await sleep(100);
  }
}

function progressOf({ report, until }: Run): string {
  const left = Math.max(0, Math.round((until - Date.now()) / 1000));
  return `${left} s left: ${report.kills} kills, ${report.acknowledged} deletions acknowledged, ${report.violations.length} violations`;
}
