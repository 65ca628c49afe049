import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openDoctor } from '../../src/compose/doctor/doctor.ts';
import type { Finding } from '#shared/finding.ts';
import { openStore } from '../../src/compose/store.ts';
import { loadConfig } from '#config/load.ts';
import { directoryChecks } from '#leads/directory/lead-directory.ts';
import { startTracker } from '#sandbox/tracker/tracker.ts';
import type { Tracker, TrackerOptions } from '#sandbox/tracker/tracker-api.ts';
import { DAY, MINUTE, systemClock } from '#shared/clock.ts';
import type { Clock } from '#shared/clock.ts';
import { deriveKey } from '#shared/crypto/hash.ts';
import { silentLog } from '#shared/log.ts';
import { leadBody } from '../e2e/support/world.ts';
import { temporaryFolder } from '../support/folder.ts';

const TOKEN = 'doctor-token';

async function trackerWith(options: TrackerOptions = {}): Promise<Tracker> {
  const tracker = await startTracker({ tokens: [{ token: TOKEN, can: 'write' }], ...options });
  onTestFinished(() => tracker.close());
  return tracker;
}

type Settings = Record<string, Record<string, unknown>>;

/** A configuration that is all right for the tracker, with changes. */
function settingsFor(tracker: Pick<Tracker, 'url'>, changes: Settings = {}): Settings {
  return {
    secretKey: Buffer.alloc(32).toString('base64') as never,
    store: { url: `sqlite:${path.join(temporaryFolder(), 'trackport.db')}` },
    ...changes,
    tracker: {
      repository: 'acme/leads',
      apiUrl: tracker.url,
      auth: { token: TOKEN },
      webhookSecrets: ['a-webhook-secret-that-is-long'],
      ...changes['tracker'],
    },
  };
}

async function examine(
  settings: Settings,
  { fix = false, clock = systemClock }: { fix?: boolean; clock?: Clock } = {},
): Promise<readonly Finding[]> {
  const config = loadConfig({ environment: {}, settings });
  return openDoctor({ config, clock }).services.examine({ fix });
}

function bySubject(findings: readonly Finding[], subject: string): Finding | undefined {
  return findings.find((finding) => finding.subject.startsWith(subject));
}

const partners = { crm: { scheme: 'hmac-sha256', secrets: ['a-secret-of-the-partner'] } };

test('a service that will work gets ok for everything', async () => {
  const tracker = await trackerWith();
  tracker.createLabel({ name: 'Approved' });
  tracker.createIssue({ title: 't', body: leadBody('a@example.org'), labels: ['approved'] });

  const findings = await examine(settingsFor(tracker));

  expect(findings.map(({ subject, state }) => `${state} ${subject}`)).toEqual([
    'ok configuration',
    'ok store',
    'ok webhook secret',
    'ok repository acme/leads',
    'ok permissions',
    'ok clock',
    'ok label approved',
    'ok issue form',
  ]);
  expect(findings.every(({ fix }) => fix === undefined)).toBe(true);
});

test('missing labels are named, and made with --fix', async () => {
  const tracker = await trackerWith();
  const settings = settingsFor(tracker, { partners });

  const before = await examine(settings);
  expect(bySubject(before, 'label approved')).toMatchObject({ state: 'failed' });
  expect(bySubject(before, 'label deleted-by-partner')).toMatchObject({
    state: 'failed',
    fix: expect.stringContaining('--fix'),
  });

  const fixed = await examine(settings, { fix: true });
  expect(bySubject(fixed, 'label approved')?.state).toBe('fixed');
  const after = await examine(settings);
  expect(
    after.filter(({ subject }) => subject.startsWith('label')).map(({ state }) => state),
  ).toEqual(['ok', 'ok']);
});

describe('what keeps the tracker from working is named with what to do', () => {
  test('a token that is refused', async () => {
    const tracker = await trackerWith();
    const settings = settingsFor(tracker, { tracker: { auth: { token: 'other' } } });
    const findings = await examine(settings);
    expect(bySubject(findings, 'tracker')).toMatchObject({
      state: 'failed',
      detail: 'The tracker refuses the credential.',
    });
    expect(bySubject(findings, 'issue form')).toBeUndefined();
  });

  test('a repository that is not there', async () => {
    const tracker = await trackerWith();
    const findings = await examine(settingsFor(tracker, { tracker: { repository: 'acme/other' } }));
    expect(bySubject(findings, 'tracker')?.fix).toContain('tracker.repository');
  });

  test('an address where nothing answers', async () => {
    const findings = await examine(settingsFor({ url: 'http://127.0.0.1:1' }));
    expect(bySubject(findings, 'tracker')).toMatchObject({
      detail: 'The tracker cannot be reached.',
    });
  });

  test('an address where something else answers', async () => {
    const server = createServer((_request, response) => void response.end('<html>Hello'));
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const findings = await examine(settingsFor({ url: `http://127.0.0.1:${port}` }));
    expect(bySubject(findings, 'tracker')?.detail).toContain('is not the REST API');
  });

  test('a token that may only read while partners delete', async () => {
    const tracker = await trackerWith({ tokens: [{ token: TOKEN, can: 'read' }] });
    tracker.createLabel({ name: 'approved' });
    const readOnly = await examine(settingsFor(tracker, { partners }));
    expect(bySubject(readOnly, 'permissions')).toMatchObject({ state: 'failed' });
    const enough = await examine(settingsFor(tracker));
    expect(bySubject(enough, 'permissions')).toMatchObject({ state: 'ok' });
  });

  test('a classic token without the scope to write while partners delete', async () => {
    const scopes = ['read:user'];
    const tracker = await trackerWith({ tokens: [{ token: TOKEN, can: 'write', scopes }] });
    tracker.editRepository({ isPrivate: false });
    const settings = settingsFor(tracker, { partners });
    expect(bySubject(await examine(settings), 'permissions')).toMatchObject({
      state: 'failed',
      detail: expect.stringContaining('Scopes of the token: read:user.'),
      fix: expect.stringContaining('public_repo'),
    });
    scopes.push('public_repo');
    expect(bySubject(await examine(settings), 'permissions')).toMatchObject({ state: 'ok' });
  });

  test('an admin token whose owner is no administrator', async () => {
    const tracker = await trackerWith();
    tracker.createLabel({ name: 'approved' });
    const settings = settingsFor(tracker, { tracker: { adminToken: TOKEN } });
    expect(bySubject(await examine(settings), 'admin token')).toMatchObject({ state: 'failed' });
  });
});

test.each([
  [-6 * MINUTE, 'failed'],
  [-MINUTE, 'warning'],
  [MINUTE, 'warning'],
  [0, 'ok'],
])('a clock that is off by %d ms is %s', async (offset, state) => {
  const tracker = await trackerWith();
  const clock: Clock = { ...systemClock, now: () => Date.now() + offset };
  const findings = await examine(settingsFor(tracker), { clock });
  expect(bySubject(findings, 'clock')?.state).toBe(state);
});

describe('the issue form', () => {
  test('a heading that the newest form issue lacks is named', async () => {
    const tracker = await trackerWith();
    const body = leadBody('a@example.org');
    tracker.createIssue({ title: 'old', body, labels: ['approved'], createdAt: Date.now() - DAY });
    const changed = body.replace('### Company', '### Organisation');
    tracker.createIssue({ title: 'new', body: changed, labels: ['approved'] });
    tracker.createIssue({ title: 'by API', body: 'no form', labels: ['approved'] });
    const finding = bySubject(await examine(settingsFor(tracker)), 'issue form');
    expect(finding).toMatchObject({ state: 'failed', detail: 'Issue 2 lacks "Company".' });
  });

  test('that has the headings in another order than the configuration is told', async () => {
    const tracker = await trackerWith();
    const body = leadBody('a@example.org')
      .replace('### Company', '### X')
      .replace('### Interest', '### Company')
      .replace('### X', '### Interest');
    tracker.createIssue({ title: 'new', body, labels: ['approved'] });
    expect(bySubject(await examine(settingsFor(tracker)), 'issue form')).toMatchObject({
      state: 'failed',
      detail: 'Issue 1 has the headings in another order.',
    });
  });

  test.each([
    [403, 'The credential may not read the repository.', /^Give the credential Issues/],
    [500, 'The tracker fails (server, 500).', /^Try again later/],
  ])('that cannot be read (%d) has its own cause and remedy', async (status, why, fix) => {
    const tracker = await trackerWith();
    tracker.fault({ kind: 'status', status, path: '/issues$', count: 100 });
    const findings = await examine(settingsFor(tracker));
    expect(bySubject(findings, 'repository')).toMatchObject({ state: 'ok' });
    expect(bySubject(findings, 'issue form')).toMatchObject({
      state: 'failed',
      detail: `The issues cannot be read: ${why}`,
      fix: expect.stringMatching(fix),
    });
  });

  test('without an issue to compare there is a warning', async () => {
    const tracker = await trackerWith();
    const finding = bySubject(await examine(settingsFor(tracker)), 'issue form');
    expect(finding?.state).toBe('warning');
  });
});

test('a store that cannot be opened is a finding, and the rest is still examined', async () => {
  const tracker = await trackerWith();
  const folder = path.join(temporaryFolder(), 'in-the-way');
  mkdirSync(folder);
  const findings = await examine(settingsFor(tracker, { store: { url: `sqlite:${folder}` } }));
  expect(bySubject(findings, 'store')).toMatchObject({ state: 'failed' });
  expect(bySubject(findings, 'repository')).toMatchObject({ state: 'ok' });
});

test('the file with a key of its own making is to be backed up', async () => {
  const tracker = await trackerWith();
  const { secretKey: _, ...settings } = settingsFor(tracker);
  expect(bySubject(await examine(settings), 'store')?.detail).toContain('trackport.db.key');
});

test('a store that was filled with another secret key is a failure with what to do', async () => {
  const tracker = await trackerWith();
  const settings = settingsFor(tracker);
  const config = loadConfig({ environment: {}, settings });
  const store = await openStore({ config, clock: systemClock, log: silentLog });
  const checks = directoryChecks(config.leads, deriveKey(store.secretKey, 'directory'));
  await store.stores.directory().open(1, checks, 1);
  await store.close();
  const other = { ...settings, secretKey: Buffer.alloc(32, 1).toString('base64') as never };
  expect(bySubject(await examine(settings), 'secret key')).toBeUndefined();
  expect(bySubject(await examine(other), 'secret key')).toMatchObject({ state: 'failed' });
});

test('a missing or short webhook secret, and settings that are likely not meant, are warnings', async () => {
  const tracker = await trackerWith();
  const v3 = {
    crm: { scheme: 'signature-v3', secrets: ['s'], deletions: { actions: ['delete'] } },
  };
  const none = await examine(
    settingsFor(tracker, { tracker: { webhookSecrets: [] }, partners: v3 }),
  );
  const warnings = none.filter(({ state }) => state === 'warning');
  expect(warnings.map(({ subject }) => subject)).toEqual([
    'tracker.adminToken',
    'server.publicUrl',
    'partners.crm.secrets[0]',
    'webhook secret',
    'issue form',
  ]);
  const short = await examine(settingsFor(tracker, { tracker: { webhookSecrets: ['short'] } }));
  expect(bySubject(short, 'webhook secret')?.state).toBe('warning');
});

describe('the issuer', () => {
  async function issuerThat(answer: (url: string, path: string) => unknown): Promise<string> {
    const server = createServer((request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(answer(url, request.url ?? '')));
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return url;
  }

  const keys = { keys: [{ kty: 'EC' }] };

  test.each<[string, 'ok' | 'failed', (url: string, path: string) => unknown]>([
    [
      'with a key',
      'ok',
      (url, at) =>
        at.startsWith('/.well-known') ? { issuer: url, jwks_uri: `${url}/jwks` } : keys,
    ],
    ['of another name', 'failed', (url) => ({ issuer: `${url}/`, jwks_uri: `${url}/jwks` })],
    [
      'without keys',
      'failed',
      (url, at) =>
        at.startsWith('/.well-known') ? { issuer: url, jwks_uri: `${url}/jwks` } : { keys: [] },
    ],
    ['that talks nonsense', 'failed', () => 'hello'],
    [
      'with more keys than the service takes',
      'failed',
      (url, at) =>
        at.startsWith('/.well-known')
          ? { issuer: url, jwks_uri: `${url}/jwks` }
          : { keys: Array.from({ length: 101 }, () => ({ kty: 'EC' })) },
    ],
  ])('%s is %s', async (_name, state, answer) => {
    const tracker = await trackerWith();
    const issuer = await issuerThat(answer);
    const identity = { issuer, audience: 'trackport' };
    const findings = await examine(settingsFor(tracker, { identity }));
    expect(bySubject(findings, 'issuer')?.state).toBe(state);
  });

  test('whose keys would come in plain text over a network is told so', async () => {
    const tracker = await trackerWith();
    const jwks_uri = 'http://keys.example.com/jwks';
    const issuer = await issuerThat((url) => ({ issuer: url, jwks_uri }));
    const identity = { issuer, audience: 'trackport' };
    const findings = await examine(settingsFor(tracker, { identity }));
    expect(bySubject(findings, 'issuer')?.detail).toContain('https');
  });

  test('that cannot be reached is failed', async () => {
    const tracker = await trackerWith();
    const identity = { issuer: 'http://127.0.0.1:1', audience: 'trackport' };
    const findings = await examine(settingsFor(tracker, { identity }));
    expect(bySubject(findings, 'issuer')?.state).toBe('failed');
  });
});

test('no finding shows a secret', async () => {
  const tracker = await trackerWith();
  const settings = settingsFor(tracker, { partners, tracker: { adminToken: 'admin-token-value' } });
  const printed = JSON.stringify(await examine(settings));
  for (const secret of [TOKEN, 'admin-token-value', 'a-webhook-secret-that-is-long'])
    expect(printed).not.toContain(secret);
});
