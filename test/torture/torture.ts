import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '#sandbox/instruments/faults.ts';
import { everyFault } from './faults.ts';
import { deletionsOf, issueOf, personAt, SECRETS, signed, type Person } from './people.ts';
import { startChild, startRemoteTracker, type Child, type RemoteTracker } from './service.ts';
import { createReader, type Reader } from './reader.ts';
import { findViolations, openFindings, type Acknowledged } from './verdict.ts';

export type TortureOptions = {
  /** How long deletions come in and the process is killed. */
  seconds: number;
  seed: number;
  onProgress?: (line: string) => void;
};

/** What happened, and all that should not have. */
export type TortureReport = {
  kills: number;
  people: number;
  sent: number;
  acknowledged: number;
  repeats: number;
  /** Complete reads of all leads meanwhile. */
  walks: number;
  trackerCalls: number;
  trackerFailures: number;
  replayed: number;
  violations: string[];
};

const BYSTANDERS = 20;
const SENDERS = 2;
const SETTLE_SECONDS_MAX = 120;

type Run = {
  folder: string;
  port: number;
  tracker: RemoteTracker;
  random: () => number;
  acknowledged: Acknowledged[];
  report: TortureReport;
  output: string;
  until: number;
};

/**
 * Kills the whole program at random moments, again and again, while partners send deletions and
 * the tracker fails 30 % of the calls. Then lets it finish and looks at every issue, receipt and
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
  const last = await killAgainAndAgain(run, first);
  await Promise.all([...senders, reading]);
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

/** Calls while faults were in force. Half of the faults show in no status. */
async function countCalls({ tracker, report }: Run): Promise<void> {
  const calls = await tracker.list<{ status: number }>('calls');
  report.trackerCalls = calls.length;
  report.trackerFailures = calls.filter(({ status }) => status === 0 || status >= 300).length;
}

const configPath = ({ folder }: Run): string => path.join(folder, 'trackport.yaml');
const databasePath = ({ folder }: Run): string => path.join(folder, 'trackport.db');

function configOf({ port, tracker, folder }: Run): string {
  const partner = (scheme: string, id: keyof typeof SECRETS, deletions: string): string =>
    `  ${id}: { scheme: ${scheme}, secrets: ["${SECRETS[id]}"], deletions: { ${deletions} } }`;
  return [
    `server: { port: ${port}, publicUrl: "http://127.0.0.1:${port}", logLevel: debug }`,
    `store: { url: "sqlite:${folder}/trackport.db" }`,
    'tracker:',
    '  repository: acme/leads',
    `  apiUrl: ${tracker.url}`,
    `  auth: { token: ${tracker.token} }`,
    `  adminToken: ${tracker.token}`,
    '  writeInterval: 2ms',
    '  requestTimeout: 100ms',
    'leads: { portalAuthors: ["acme-portal[bot]"], freshFor: 200ms }',
    `deletions: { retry: [${Array.from({ length: 40 }, () => '100ms').join(', ')}] }`,
    'partners:',
    partner('hmac-sha256', 'crm-one', 'actions: [relabel, close, comment]'),
    partner(
      'signature-v3',
      'crm-two',
      'actions: [relabel, close, comment], privacy: [relabel, close, redact, comment]',
    ),
    partner('hmac-sha256', 'crm-three', 'actions: [delete, relabel, close]'),
    '',
  ].join('\n');
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

/** People that nobody deletes, and pull requests that look like leads of those who are. */
async function seedBystanders(tracker: RemoteTracker): Promise<{ number: number }[]> {
  const issues = Array.from({ length: BYSTANDERS }, (_, index) => ({
    ...issueOf({ ...personAt(index), email: `bystander-${index}@example.com`, objectId: 'x' }),
    ...(index % 4 === 0 && { ...issueOf(personAt(index)), isPullRequest: true }),
  }));
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

/** One partner: makes a lead, deletes its person, and sends until it is acknowledged. */
async function sendDeletions(run: Run): Promise<void> {
  const { tracker, random, report, acknowledged } = run;
  while (Date.now() < run.until) {
    const index = report.people;
    report.people += 1;
    const person = personAt(index);
    const numbers: number[] = [];
    for (let lead = 0; lead < person.leads; lead += 1)
      numbers.push(
        (await tracker.control<{ number: number }>('createIssue', issueOf(person))).number,
      );
    for (const body of deletionsOf(person)) {
      const receiptId = await sendUntilAcknowledged(run, person, body);
      acknowledged.push({ receiptId, person, numbers });
      report.acknowledged += 1;
      if (random() < 0.2) {
        report.repeats += 1;
        const again = await sendUntilAcknowledged(run, person, body);
        if (again !== receiptId) report.violations.push(`a repeat got another receipt: ${again}`);
      }
    }
    await sleep(50 + random() * 100);
  }
}

async function keepReading(run: Run, reader: Reader): Promise<void> {
  while (Date.now() < run.until) {
    await reader.read(`http://127.0.0.1:${run.port}`);
    await sleep(150);
  }
}

async function sendUntilAcknowledged(run: Run, person: Person, body: object): Promise<string> {
  const uri = `http://127.0.0.1:${run.port}/api/v1/webhooks/partners/${person.partner}/deletions`;
  const text = JSON.stringify(body);
  for (;;) {
    run.report.sent += 1;
    try {
      const headers = signed(person.partner, uri, text);
      const answer = await fetch(uri, { method: 'POST', headers, body: text });
      const receipt = (await answer.json()) as { id: string };
      if (answer.status === 202) return receipt.id;
      if (answer.status !== 503)
        run.report.violations.push(`a signed deletion was answered ${answer.status}`);
    } catch {
      // killed: the partner sends it again
    }
    await sleep(50);
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
