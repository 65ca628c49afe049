import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClaimStore } from '#adapters/sqlite/claims/claim-store.ts';
import { openDatabase } from '#adapters/sqlite/database.ts';
import type { Database } from '#adapters/sqlite/database.ts';
import { createLeadDirectory } from '#adapters/sqlite/directory/lead-directory.ts';
import { createDirectoryView } from '#adapters/sqlite/directory/view.ts';
import type { DirectoryView } from '#partners/deletions/match.ts';
import { migrate } from '#adapters/sqlite/migrate.ts';
import { directoryChecks, hashIdentity } from '#leads/directory/lead-directory.ts';
import type { DirectoryEntry } from '#leads/directory/lead-directory.ts';
import { callControl } from '#sandbox/instruments/remote-controls.ts';
import { silentLog } from '#shared/log.ts';
import { start } from './processes.ts';
import { median, ratioRow } from './row.ts';
import type { BenchRow } from './row.ts';

const REPOSITORY = 'acme/leads';
const SECRET = 'bench-secret';
const FEW = 1000;
const LOOKUPS = 20_000;
const FILL_PAGE = 10_000;
const key = Buffer.alloc(32, 1);

export type PartnerBenchScale = {
  /** Rows of the large directory. */
  directory: number;
  /** Rounds of what is compared. */
  rounds: number;
  /** Deletions that are timed. */
  deletions: number;
};

/** The directory's size and the time of a deletion. */
export async function measurePartners(scale: PartnerBenchScale): Promise<BenchRow[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'trackport-bench-'));
  try {
    return [...(await measureLookups(folder, scale)), ...(await measureDeletions(folder, scale))];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureLookups(
  folder: string,
  { directory: many, rounds }: PartnerBenchScale,
): Promise<BenchRow[]> {
  const small = await fill(path.join(folder, 'small.db'), FEW);
  const large = await fill(path.join(folder, 'large.db'), many);
  const ratios: number[] = [];
  for (const filled of [small, large]) await timeLookups(filled);
  for (let round = 0; round < rounds; round += 1) {
    const few = await timeLookups(small);
    ratios.push((await timeLookups(large)) / few);
  }
  for (const { database } of [small, large]) database.close();
  const what = `directory look-up, ${many.toLocaleString('en')} ÷ ${FEW.toLocaleString('en')} leads`;
  return [ratioRow(what, median(ratios), { atMost: 1.3 })];
}

type Filled = { database: Database; view: DirectoryView; count: number };

const emailOf = (index: number): string => `person-${index}@example.com`;
const hashOf = (index: number): Buffer =>
  hashIdentity(key, { kind: 'email', value: emailOf(index) });

async function fill(file: string, count: number): Promise<Filled> {
  const database = openDatabase({ path: file });
  migrate({ database, log: silentLog });
  const directory = createLeadDirectory(database, { repository: REPOSITORY });
  const rules = { approvedLabel: 'approved', priorityLabelPrefix: '', form: [], portalAuthors: [] };
  await directory.open(1, directoryChecks(rules, key), 0);
  for (let from = 0; from < count; from += FILL_PAGE) {
    const length = Math.min(FILL_PAGE, count - from);
    const page = Array.from({ length }, (_, at): DirectoryEntry => ({
      number: from + at + 1,
      createdAt: 0,
      updatedAt: 0,
      isApproved: true,
      labels: ['approved'],
      identities: [{ kind: 'email', hash: hashOf(from + at) }],
    }));
    await directory.putCrawled(page, 0);
  }
  database.truncateLog();
  return { database, view: createDirectoryView(database, REPOSITORY), count };
}

/** Milliseconds for many look-ups of people all over the directory. */
async function timeLookups({ view, count }: Filled): Promise<number> {
  const startedAt = performance.now();
  for (let turn = 0; turn < LOOKUPS; turn += 1) {
    const index = (turn * 7919) % count;
    const [found] = view.find(hashOf(index));
    if (found !== index + 1) throw new Error(`the directory does not find person ${index}`);
  }
  return performance.now() - startedAt;
}

async function measureDeletions(
  folder: string,
  { deletions }: PartnerBenchScale,
): Promise<BenchRow[]> {
  const tracker = await start(['bench/tracker-process.ts', '--issues', '1000', '--latency', '50']);
  const file = path.join(folder, 'trackport.db');
  const config = path.join(folder, 'trackport.yaml');
  writeFileSync(config, configOf(tracker.url, file));
  const service = await start(['bin/trackport.js', 'serve', '--config', config]);
  try {
    await untilDirectoryIsComplete(service.url);
    const times = await timeDeletions(
      { file, service: service.url, tracker: tracker.url },
      deletions,
    );
    const row = (what: string, values: readonly number[], wantedMs?: number): BenchRow => ({
      what,
      measured: `${median(values).toFixed(0)} ms (slowest ${Math.max(...values).toFixed(0)} ms)`,
      ...(wantedMs !== undefined && {
        wanted: `≤ ${wantedMs} ms`,
        met: Math.max(...values) <= wantedMs,
      }),
    });
    return [
      row('from 202 to the claim, tracker answers after 50 ms', times.claimed, 1000),
      row('from 202 to the closed issue, one write a second', times.closed),
    ];
  } finally {
    await service.stop();
    await tracker.stop();
  }
}

function configOf(trackerUrl: string, file: string): string {
  return [
    'server: { port: 0 }',
    `store: { url: "sqlite:${file}" }`,
    'tracker:',
    `  repository: ${REPOSITORY}`,
    `  apiUrl: ${trackerUrl}`,
    '  auth: { token: sandbox-admin-token }',
    `partners: { crm-one: { scheme: hmac-sha256, secrets: ["${SECRET}"] } }`,
    '',
  ].join('\n');
}

async function untilDirectoryIsComplete(url: string): Promise<void> {
  for (;;) {
    const answer = await fetch(`${url}/readyz`);
    const { checks } = (await answer.json()) as { checks: Record<string, { state: string }> };
    if (checks['directory']?.state === 'complete') return;
    await sleep(20);
  }
}

type Parties = { file: string; service: string; tracker: string };

/** One deletion after the other, each of a lead that was made a moment before. */
async function timeDeletions({ file, service, tracker }: Parties, count: number) {
  const database = openDatabase({ path: file });
  const claims = createClaimStore(database, { repository: REPOSITORY });
  const claimed: number[] = [];
  const closed: number[] = [];
  for (let turn = 0; turn < count; turn += 1) {
    const issue = { title: 'A lead', labels: ['approved'], body: '' };
    const { number } = await callControl<{ number: number }>(tracker, 'createIssue', issue);
    await send(service, JSON.stringify({ leadId: String(number) }));
    const startedAt = performance.now();
    while (!(await claims.current()).has(number)) await sleep(1);
    claimed.push(performance.now() - startedAt);
    while (await isOpen(tracker, number)) await sleep(5);
    closed.push(performance.now() - startedAt);
  }
  database.close();
  return { claimed, closed };
}

async function isOpen(tracker: string, number: number): Promise<boolean> {
  return (await callControl<{ state: string }>(tracker, 'readIssue', number)).state === 'open';
}

async function send(service: string, body: string): Promise<void> {
  const signature = createHmac('sha256', SECRET).update(body).digest('hex');
  const answer = await fetch(`${service}/api/v1/webhooks/partners/crm-one/deletions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-partner-signature': `sha256=${signature}`,
    },
    body,
  });
  if (answer.status !== 202) throw new Error(`a deletion was answered ${answer.status}`);
  await answer.arrayBuffer();
}
