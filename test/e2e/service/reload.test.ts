import { createHmac } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { listening, trackport, type Trackport } from '../support/process.ts';
import {
  command,
  createWorld,
  listLeads,
  NEXT_TRACKER_TOKEN,
  openLead,
  sendDeletion,
  serve,
  TRACKER_TOKEN,
  WEBHOOK_SECRET,
} from '../support/world.ts';

const RELOADED = 'configuration reloaded';
const IN_PART = 'configuration reloaded: some keys need a restart';
const REFUSED = 'configuration not reloaded: nothing was changed';

type Settings = Record<string, Record<string, unknown>>;

/** Merges sections into the file, key by key. */
function edit(file: string, changes: Settings): void {
  const settings = JSON.parse(readFileSync(file, 'utf8')) as Settings;
  for (const [section, keys] of Object.entries(changes))
    settings[section] = { ...settings[section], ...keys };
  writeFileSync(file, JSON.stringify(settings));
}

function linesOf(run: Trackport, message: string): Record<string, unknown>[] {
  return run.log().filter(({ msg }) => msg === message);
}

/** Sends SIGHUP and waits for the line that says what came of it. */
async function reload(run: Trackport, message: string): Promise<Record<string, unknown>> {
  const before = linesOf(run, message).length;
  run.child.kill('SIGHUP');
  await eventually(() => expect(linesOf(run, message)).toHaveLength(before + 1));
  return linesOf(run, message).at(-1) ?? {};
}

async function deletionStatus(url: string, partner: string, secret: string): Promise<number> {
  const event = { eventType: 'lead.deletion', email: 'ada@example.org' };
  return (await sendDeletion(url, event, { partner, secret })).status;
}

async function webhookStatus(url: string, secret: string): Promise<number> {
  const body = JSON.stringify({ zen: 'Keep it logically awesome.' });
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  const answer = await fetch(`${url}/api/v1/webhooks/github`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-github-event': 'ping',
      'x-hub-signature-256': `sha256=${signature}`,
    },
    body,
  });
  return answer.status;
}

test('SIGHUP takes over partners, secrets in files, labels, limits and the log level', async () => {
  const secretFile = path.join(temporaryFolder(), 'secret');
  writeFileSync(secretFile, 'the-first-secret-of-it\n');
  const { tracker, config, key } = await createWorld({
    partners: { 'crm-one': { scheme: 'hmac-sha256', secrets: [`\${file:${secretFile}}`] } },
  });
  const { run, url } = await serve(config);
  const issue = openLead(tracker, { title: 'Demo', email: 'ada@example.org' });

  writeFileSync(secretFile, 'the-second-secret-of-it\n');
  edit(config, {
    deletions: { deletedLabel: 'erased' },
    consumers: { limitPerMinute: 77 },
    server: { logLevel: 'debug' },
    tracker: { webhookSecrets: ['the-next-webhook-secret'] },
    partners: { 'crm-new': { scheme: 'hmac-sha256', secrets: ['a-secret-of-the-new-one'] } },
  });
  expect(await deletionStatus(url, 'crm-one', 'the-second-secret-of-it')).toBe(401);
  expect(await reload(run, RELOADED)).toMatchObject({
    level: 'info',
    changed:
      'server.logLevel, tracker.webhookSecrets, partners.crm-one.secrets, partners.crm-new, deletions.deletedLabel, consumers.limitPerMinute',
  });

  expect(await deletionStatus(url, 'crm-one', 'the-first-secret-of-it')).toBe(401);
  expect(await deletionStatus(url, 'crm-one', 'the-second-secret-of-it')).toBe(202);
  expect(await deletionStatus(url, 'crm-new', 'a-secret-of-the-new-one')).toBe(202);
  expect(await webhookStatus(url, WEBHOOK_SECRET)).toBe(401);
  expect(await webhookStatus(url, 'the-next-webhook-secret')).toBe(202);
  const answer = await fetch(`${url}/api/v1/leads`, { headers: { 'x-api-key': key } });
  expect(answer.headers.get('ratelimit-policy')).toContain('q=77;');
  await eventually(() =>
    expect(linesOf(run, 'request answered').map(({ level }) => level)).toContain('debug'),
  );
  await eventually(() => {
    const labels = tracker.issues().find(({ number }) => number === issue.number)?.labels;
    expect(labels?.map(({ name }) => name)).toEqual(['erased']);
  });
  expect(run.stdout()).not.toContain('secret-of');
});

test('a wrong file changes nothing, and one line names every problem', async () => {
  const secret = 'a-secret-that-stays-right';
  const { config } = await createWorld({
    partners: { 'crm-one': { scheme: 'hmac-sha256', secrets: [secret] } },
  });
  const { run, url } = await serve(config);
  const right = readFileSync(config, 'utf8');
  edit(config, {
    partners: { 'crm-one': { scheme: 'hmacs', secrets: ['another-secret-of-it'] } },
    consumers: { limitPerMinute: 0 },
    server: { logLevl: 'debug' },
  });
  const { level, problems } = await reload(run, REFUSED);
  expect(level).toBe('error');
  for (const path of ['partners.crm-one.scheme', 'consumers.limitPerMinute', 'server.logLevl'])
    expect(problems).toContain(`${path}: found `);
  expect(await deletionStatus(url, 'crm-one', secret)).toBe(202);

  writeFileSync(config, 'partners: [');
  await reload(run, REFUSED);
  expect(await deletionStatus(url, 'crm-one', secret)).toBe(202);

  writeFileSync(config, right);
  expect(await reload(run, RELOADED)).toMatchObject({ changed: '' });
});

test('the first partner begins the directory, so that its deletions find their leads', async () => {
  const { tracker, config } = await createWorld({ partners: {} });
  const { number } = openLead(tracker, { title: 'Demo', email: 'ada@example.org' });
  const { run, url } = await serve(config);
  const secret = 'a-secret-of-the-first-one';
  edit(config, { partners: { 'crm-one': { scheme: 'hmac-sha256', secrets: [secret] } } });
  expect(await reload(run, RELOADED)).toMatchObject({ changed: 'partners.crm-one' });
  await run.logged('the lead directory is complete');
  expect(await deletionStatus(url, 'crm-one', secret)).toBe(202);
  await eventually(() => expect(tracker.readIssue(number)?.state).toBe('closed'));
  const { checks } = (await (await fetch(`${url}/readyz`)).json()) as { checks: object };
  expect(checks).toHaveProperty('directory.state', 'complete');
});

test('what needs a restart is said, and the rest is taken over', async () => {
  const { config } = await createWorld();
  const { run, url } = await serve(config);
  edit(config, {
    leads: { freshFor: '30m' },
    server: { trustProxy: true },
    consumers: { limitPerMinute: 5 },
  });
  expect(await reload(run, IN_PART)).toMatchObject({
    level: 'warn',
    changed: 'consumers.limitPerMinute',
    restartNeeded: 'server.trustProxy, leads.freshFor',
  });
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
});

test('a call in flight is answered as it began', async () => {
  const { tracker, config, key } = await createWorld();
  openLead(tracker, { title: 'Demo' });
  const { run, url } = await serve(config);
  const read = () => fetch(`${url}/api/v1/leads`, { headers: { 'x-api-key': key } });
  const gate = tracker.hold({ path: '/issues$' });
  const inFlight = read();
  await gate.arrived();
  edit(config, {
    consumers: { limitPerMinute: 77 },
    tracker: { auth: { token: 'a-token-that-is-wrong' } },
  });
  await reload(run, RELOADED);
  gate.open();
  const [before, after] = [await inFlight, await read()];
  expect([before.status, before.headers.get('ratelimit-policy')]).toEqual([
    200,
    expect.stringContaining('q=600;'),
  ]);
  expect(after.headers.get('ratelimit-policy')).toContain('q=77;');
});

test('another token for the tracker is used from the next call on', async () => {
  const { tracker, config, key } = await createWorld({ leads: { freshFor: '0s' } });
  openLead(tracker, { title: 'Demo' });
  edit(config, { tracker: { auth: { token: 'a-token-of-yesterday' } } });
  const { run, url } = await serve(config, { environment: { TRACKER_TOKEN } });
  await expect(listLeads(url, key)).rejects.toThrow('503');
  edit(config, { tracker: { auth: { token: '${TRACKER_TOKEN}' } } });
  expect(await reload(run, RELOADED)).toMatchObject({ changed: 'tracker.auth.token' });
  expect(await listLeads(url, key)).toHaveLength(1);
});

test('another token is tried at once, however long the former one has to wait', async () => {
  const { tracker, config, key } = await createWorld({ leads: { freshFor: '0s' } });
  const [acted, matched] = [openLead(tracker).number, openLead(tracker).number];
  openLead(tracker, { title: 'Shown' });
  const { run, url } = await serve(config);
  await run.logged('the lead directory is complete');
  tracker.fault({ kind: 'secondary-limit', method: 'PATCH', retryAfterSeconds: 3600 });
  const { id } = (await (await sendDeletion(url, acted)).json()) as { id: string };
  await eventually(async () =>
    expect(await command(config, 'receipt', 'show', id)).toContain('"tracker-limited"'),
  );
  await expect(listLeads(url, key)).rejects.toThrow('503');
  expect((await sendDeletion(url, matched)).status).toBe(202);
  await run.logged('the lead directory could not be caught up');
  edit(config, { tracker: { auth: { token: NEXT_TRACKER_TOKEN } } });
  await reload(run, RELOADED);
  expect(await listLeads(url, key)).toMatchObject([{ title: 'Shown' }]);
  for (const number of [acted, matched])
    await eventually(() => expect(tracker.readIssue(number)?.state).toBe('closed'));
});

test.runIf(process.platform === 'linux')(
  'signals that come together are one reload, and one during the start waits for its end',
  async () => {
    const { config } = await createWorld();
    const run = trackport(['serve', '--config', config, '--port', '0']);
    await eventually(() => expect(signalsCaught(run)).toBe(true));
    for (let sent = 0; sent < 5; sent += 1) run.child.kill('SIGHUP');
    await listening(run);
    await run.logged(RELOADED);
    await reload(run, RELOADED);
    expect(linesOf(run, RELOADED)).toHaveLength(2);
  },
);

/** True when SIGHUP (bit 0) would reach a handler by now: before, it ends a process. */
function signalsCaught({ child }: Trackport): boolean {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  const caught = /^SigCgt:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0';
  return (BigInt(`0x${caught}`) & 1n) === 1n;
}

test('SIGHUP during a stop takes nothing over', async () => {
  const { config } = await createWorld({ server: { stopDelay: '1s' } });
  const run = trackport(['serve', '--config', config, '--port', '0']);
  await listening(run);
  run.child.kill('SIGTERM');
  await run.logged('stopping');
  run.child.kill('SIGHUP');
  expect(await run.exited).toBe(0);
  expect(linesOf(run, RELOADED)).toEqual([]);
});
