import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import nock from 'nock';
import { describe, expect, onTestFinished, test } from 'vitest';
import { examine as examineBy } from '#doctor/examine.ts';
import type { Finding } from '#doctor/finding.ts';
import { openStore } from '#compose/store.ts';
import { loadConfig } from '#config/load.ts';
import { startTracker } from '#sandbox/tracker/tracker.ts';
import type { Tracker, TrackerOptions } from '#sandbox/tracker/tracker-api.ts';
import { createHearing } from '#partners/silence.ts';
import { addTraffic } from '#partners/traffic.ts';
import { type Clock, DAY, MINUTE, systemClock } from '#shared/clock.ts';
import { silentLog } from '#shared/log.ts';
import { wireIssue, wireRepository } from '../adapters/github/support.ts';
import { leadBody } from '../e2e/support/world.ts';
import { createFakeClock } from '../support/clock.ts';
import { temporaryFolder } from '../support/folder.ts';
import { writeMigratedStore } from '../support/migrated-store.ts';
import { connectTo } from '../support/stores.ts';
import { openServer } from '../support/http/local-server.ts';
import { rsaKeys } from '../support/rsa-keys.ts';

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
    store: { url: `sqlite:${writeMigratedStore(path.join(temporaryFolder(), 'trackport.db'))}` },
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
  return examineBy({ config, clock }, { fix });
}

function bySubject(findings: readonly Finding[], subject: string): Finding | undefined {
  return findings.find((finding) => finding.subject.startsWith(subject));
}

const partners = { crm: { scheme: 'hmac-sha256', secrets: ['a-secret-of-the-partner'] } };

const PUBLIC_URL = 'https://adapter.example.com';
const SECRET = 'a-webhook-secret-that-is-long';
const HOOK = { url: `${PUBLIC_URL}/api/v1/webhooks/github`, secret: SECRET, isActive: false };

test('a service that will work gets ok for everything', async () => {
  const tracker = await trackerWith({ tokens: [{ token: TOKEN, can: 'admin' }] });
  tracker.createLabel({ name: 'Approved' });
  tracker.createIssue({ title: 't', body: leadBody('a@example.org'), labels: ['approved'] });
  const receiver = await openReceiver();
  tracker.addWebhook(`${receiver}/api/v1/webhooks/github`, SECRET);
  await tracker.hooks.settled();

  const folder = temporaryFolder();
  const store = { url: `sqlite:${path.join(folder, 'new.db')}` };

  const findings = await examine(settingsFor(tracker, { server: { publicUrl: receiver }, store }));
  expect(readdirSync(folder)).toEqual([]); // a start makes the store

  expect(findings.map(({ subject, state }) => `${state} ${subject}`)).toEqual([
    'ok configuration',
    'ok store',
    'ok webhook secret',
    'ok repository acme/leads',
    'ok permissions',
    'ok clock',
    'ok label approved',
    'ok webhook',
    'ok issue form',
    'ok form fields',
  ]);
  expect(findings.every(({ fix }) => fix === undefined)).toBe(true);
});

/** Answers every request with this status; resolves with its address. */
async function openReceiver(status = 202): Promise<string> {
  return openServer((_request, response) => void response.writeHead(status).end());
}

describe('the webhook', () => {
  const server = { publicUrl: PUBLIC_URL };
  const admin = { tokens: [{ token: TOKEN, can: 'admin' as const }] };

  const webhookOf = async (settings: Settings) =>
    (await examine(settings)).filter(({ subject }) => subject === 'webhook');

  test.each([
    ['that a credential sees', 'admin', /^It leads here; the service is not started yet\.$/],
    ['that none sees', 'write', /^The credential may not see hooks.*: the service is not started/],
  ] as const)('%s is not failed before the first start', async (_what, can, detail) => {
    const tracker = await trackerWith({ tokens: [{ token: TOKEN, can }] });
    const publicUrl = 'http://127.0.0.1:1';
    tracker.addWebhook(`${publicUrl}/api/v1/webhooks/github`, SECRET);
    await tracker.hooks.settled();
    const store = { url: `sqlite:${path.join(temporaryFolder(), 'new.db')}` };
    expect(await webhookOf(settingsFor(tracker, { server: { publicUrl }, store }))).toMatchObject([
      { state: 'warning', detail: expect.stringMatching(detail) },
    ]);
  });

  test.each<[string, 'warning' | 'failed', string, object | undefined]>([
    ['that is not there', 'warning', 'None leads here (of 0)', undefined],
    [
      'of another service',
      'warning',
      'None leads here (of 1)',
      { url: 'https://ci.example.com/hook' },
    ],
    [
      'that leads to another address',
      'failed',
      'It leads to https://old.example.com/api/v1/webhooks/github, not to https://adapter.example.com/api/v1/webhooks/github.',
      { url: 'https://user:pass@old.example.com/api/v1/webhooks/github?token=t' },
    ],
    ['that is not active', 'failed', 'It is not active.', {}],
    ['without the event issues', 'failed', 'It lacks the event issues.', { events: ['label'] }],
    [
      'without further events',
      'warning',
      'It lacks the events label, repository',
      { events: ['issues'] },
    ],
    ['of another content type', 'failed', 'Its content type is form', { contentType: 'form' }],
    ['without a secret', 'failed', 'It has no secret', { secret: '' }],
  ])('%s is told', async (_what, state, detail, changes) => {
    const tracker = await trackerWith(admin);
    if (changes) tracker.hooks.add({ ...HOOK, ...changes });
    await tracker.hooks.settled();
    const findings = await webhookOf(settingsFor(tracker, { server }));
    expect(findings).toContainEqual({
      subject: 'webhook',
      state,
      detail: expect.stringContaining(detail),
      fix: expect.any(String),
    });
    expect(JSON.stringify(findings)).not.toMatch(/pass@|token=t|a-webhook-secret/);
  });

  test.each([
    [401, 'Give it a secret that stands in tracker.webhookSecrets'],
    [500, 'See its recent deliveries'],
  ])('whose last delivery ended with %d is told when', async (status, fix) => {
    const tracker = await trackerWith(admin);
    const publicUrl = await openReceiver(status);
    tracker.addWebhook(`${publicUrl}/api/v1/webhooks/github`, SECRET);
    await tracker.hooks.settled();
    expect(await webhookOf(settingsFor(tracker, { server: { publicUrl } }))).toMatchObject([
      {
        state: 'failed',
        detail: expect.stringMatching(
          new RegExp(`^The last delivery, at \\d{4}-.*Z, ended with ${status}\\.$`),
        ),
        fix: expect.stringContaining(fix),
      },
    ]);
  });

  test('is looked for with the admin token where the other may not see it', async () => {
    const tokens = [
      { token: TOKEN, can: 'write' as const },
      { token: 'the-admin-token', can: 'admin' as const },
    ];
    const tracker = await trackerWith({ tokens });
    const settings = settingsFor(tracker, { server, tracker: { adminToken: 'the-admin-token' } });
    expect(await webhookOf(settings)).toMatchObject([{ detail: expect.stringContaining('None') }]);
  });

  test('of an App is found by the App itself', async () => {
    const { publicKey, privateKey } = rsaKeys();
    const app = {
      id: 17,
      slug: 'trackport',
      publicKey,
      installations: [{ id: 5, can: 'write' as const }],
    };
    const tracker = await trackerWith({ app });
    const publicUrl = await openReceiver();
    const url = `${publicUrl}/api/v1/webhooks/github`;
    tracker.hooks.add({ url, secret: SECRET, isOfApp: true });
    await tracker.hooks.settled();
    const auth = { appId: '17', installationId: '5', privateKey };
    const settings = settingsFor(tracker, { server: { publicUrl }, tracker: { auth } });
    expect(await webhookOf(settings)).toMatchObject([
      { state: 'ok', detail: expect.stringMatching(/^The App's leads here; .* got 202\.$/) },
    ]);
  });

  describe('that no credential may see', () => {
    type Kind = 'verified' | 'refused';
    const received = async (settings: Settings, kinds: Kind[], detail = 'signature-wrong') => {
      const config = loadConfig({ environment: {}, settings });
      const store = await openStore({ config, clock: systemClock, log: silentLog });
      const day = Math.floor(Date.now() / DAY);
      const counts = kinds.map((kind, at) => ({
        sender: '@tracker',
        kind,
        detail,
        day,
        count: 1,
        lastAt: Date.now() + at * MINUTE,
      }));
      await addTraffic(store.database, counts);
      await store.close();
    };

    test.each<['ok' | 'warning' | 'failed', string, Kind[]]>([
      ['warning', 'The credential may not see hooks, and no delivery came', []],
      ['ok', 'The last delivery came at', ['refused', 'verified']],
      ['failed', 'was refused: signature wrong.', ['verified', 'refused']],
    ])('is %s by what came in: %s', async (state, detail, kinds) => {
      const tracker = await trackerWith();
      const settings = settingsFor(tracker, { server });
      await received(settings, kinds);
      const [finding] = await webhookOf(settings);
      expect(finding).toMatchObject({ state, detail: expect.stringContaining(detail) });
      if (state === 'warning') expect(finding?.fix).toContain(HOOK.url);
    });
  });
});

test('of a partner that is silent it is told since when, and of one that sends that it does', async () => {
  const crm = { ...partners.crm, expectEvery: '24h' };
  const settings = settingsFor(await trackerWith(), {
    partners: { crm, late: crm, off: { ...crm, enabled: false }, unknown: crm, any: partners.crm },
  });
  const config = loadConfig({ environment: {}, settings });
  const clock = createFakeClock();
  const store = await openStore({ config, clock, log: silentLog });
  const hearing = createHearing({ database: store.database, clock, log: silentLog });
  for (const id of ['late', 'off', 'any']) hearing.note(id);
  await hearing.close();
  await clock.advance(DAY + 1);
  const later = createHearing({ database: store.database, clock, log: silentLog });
  later.note('crm');
  await later.close();
  await store.close();
  const found = (await examine(settings, { clock })).filter(({ subject }) =>
    subject.startsWith('partner '),
  );
  expect(found).toEqual([
    { subject: 'partner crm', state: 'ok', detail: 'Not silent: something is expected every 1d.' },
    {
      subject: 'partner late',
      state: 'warning',
      detail: 'Nothing accepted since 2026-03-01T12:00:00Z, and expected every 1d.',
      fix: expect.stringContaining('trackport receipt import'),
    },
  ]);
});

test.each([
  ['0.0.0.0', {}, 'warning'],
  ['0.0.0.0', { opsPort: 9100 }, undefined],
  ['127.0.0.1', {}, undefined],
  ['localhost', { publicUrl: 'http://[::1]:8080' }, undefined],
  ['127.0.0.1', { publicUrl: 'https://adapter.example.com' }, 'warning'],
  ['127.0.0.1', { publicUrl: 'https://adapter.example.com', opsPort: 9100 }, undefined],
])('metrics of %s with %j: %s', async (host, more, state) => {
  const tracker = await trackerWith();
  const server = { host, ...more };
  const findings = await examine(settingsFor(tracker, { server }));
  expect(bySubject(findings, 'server.opsPort')?.state).toBe(state);
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

test('what rules name is looked for: labels, which --fix makes, and logins', async () => {
  const tracker = await trackerWith({ tokens: [{ token: TOKEN, can: 'write', login: 'sam' }] });
  tracker.createLabel({ name: 'Won' });
  const events = [
    { type: 'a', addLabels: ['won', 'hot'], assign: ['Sam'] },
    { type: 'b', removeLabels: ['HOT'], assign: ['Sam', 'nobody'] },
  ];
  const settings = settingsFor(tracker, { partners: { crm: { ...partners.crm, events } } });
  const of = (findings: readonly Finding[], kind: string) =>
    findings
      .filter(({ subject }) => subject.startsWith(kind))
      .map(({ subject, state }) => `${state} ${subject}`);

  const found = await examine(settings);
  expect(of(found, 'assignee')).toEqual(['ok assignee Sam', 'failed assignee nobody']);
  expect(of(found, 'label').slice(2)).toEqual(['ok label won', 'failed label hot']);
  const fixed = await examine(settings, { fix: true });
  expect(of(fixed, 'label').slice(2)).toEqual(['ok label won', 'fixed label hot']);
});

describe('what keeps the tracker from working is named with what to do', () => {
  test('a token that is refused', async () => {
    const tracker = await trackerWith();
    const settings = settingsFor(tracker, { tracker: { auth: { token: 'other' } } });
    const findings = await examine(settings);
    expect(bySubject(findings, 'tracker')).toMatchObject({
      state: 'failed',
      detail: 'The tracker refuses the credential (401).',
    });
    expect(bySubject(findings, 'issue form')).toBeUndefined();
  });

  test('an address where something else answers', async () => {
    const url = await openServer((_request, response) => void response.end('<html>Hello'));
    const findings = await examine(settingsFor({ url }));
    expect(bySubject(findings, 'tracker')).toMatchObject({
      detail: expect.stringContaining('cannot be understood'),
      fix: expect.stringContaining('https://HOST/api/v3'),
    });
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
  ['fill in a form', undefined, 'collaborators_only', 'warning'],
  ['fill in a form', undefined, 'all', undefined],
  ['use a portal', ['acme-portal[bot]'], 'collaborators_only', undefined],
] as const)(
  'strangers who %s (%j) and a repository where %s open issues: %s',
  async (_how, portalAuthors, issueCreationPolicy, state) => {
    const tracker = await trackerWith();
    tracker.editRepository({ issueCreationPolicy });
    const leads = portalAuthors && { leads: { portalAuthors } };
    const finding = bySubject(await examine(settingsFor(tracker, leads)), 'issue creation');
    expect(finding?.state).toBe(state);
    if (finding) expect(finding.detail).toContain('issue_creation_policy is collaborators_only');
  },
);

test.each([
  [{ deprecation: 'Fri, 10 Mar 2028 00:00:00 GMT' }, / deprecated as of 2028-03-10T00:00:00Z\.$/],
  [{ sunset: 'Fri, 10 Mar 2028 00:00:00 GMT' }, /deprecated, and ends at 2028-03-10T/],
  [{ deprecation: 'true', sunset: 'soon <script>' }, undefined],
])('the end of the API’s version, told by %j, is a warning', async (headers, detail) => {
  const api = 'https://api.ending.test';
  nock(api).get('/repos/acme/leads').reply(200, wireRepository, headers);
  nock(api).persist().get(/.*/).reply(404);
  const settings = settingsFor({ url: api }, { tracker: { webhookSecrets: [] } });
  const findings = await examine(settings).finally(() => nock.cleanAll());
  const finding = bySubject(findings, 'API version');
  if (!detail) expect(finding).toBeUndefined();
  else
    expect(finding).toMatchObject({
      state: 'warning',
      detail: expect.stringMatching(detail),
      fix: 'Update Trackport before it ends.',
    });
});

test.each([
  [-6 * MINUTE, 'failed'],
  [-MINUTE, 'warning'],
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

  test('tells which share of the approved issues has each field, and nothing of a lead', async () => {
    const tracker = await trackerWith();
    const body = leadBody('ada.private@example.org');
    for (let count = 0; count < 3; count += 1)
      tracker.createIssue({ title: 'Ada', body, labels: ['approved'] });
    const without = body.replace('### Company', '### Firm');
    tracker.createIssue({ title: 'Ada', body: without, labels: ['approved'] });
    tracker.createIssue({ title: 'not approved', body: without });
    const finding = bySubject(await examine(settingsFor(tracker)), 'form fields');
    expect(finding).toEqual({
      subject: 'form fields',
      state: 'warning',
      detail:
        'Share of the latest 4 approved issues that have it: firstName 100 %, email 100 %, company 75 %, interest 100 %, message 100 %, sourcePage 100 %.',
      fix: expect.stringContaining('the headings of company with'),
    });
  });

  test('a tracker that pages by number alone is called so, though its issues fit on one page', async () => {
    const api = 'https://api.numbers.test';
    const link = `<${api}/repositories/4711/issues?per_page=1&page=2>; rel="next"`;
    nock(api).get('/repos/acme/leads').reply(200, wireRepository);
    nock(api).get('/repos/acme/leads/labels/approved').reply(200, { name: 'approved' });
    nock(api)
      .get('/repos/acme/leads/issues')
      .query({ state: 'all', per_page: 1 })
      .reply(200, [wireIssue], { link });
    const settings = settingsFor({ url: api }, { tracker: { webhookSecrets: [] } });
    const findings = await examine(settings).finally(() => nock.cleanAll());
    expect(bySubject(findings, 'issue form')).toEqual({
      subject: 'issue form',
      state: 'failed',
      detail: expect.stringMatching(/by number alone.*page=2.*no cursor/) as string,
      fix: expect.stringMatching(/sends cursors.*docs\/how-to\/github\.md/) as string,
    });
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

test('that the store can be written is said of one that was written', async () => {
  const tracker = await trackerWith();
  const settings = settingsFor(tracker);
  await examine(settings);
  const { store } = loadConfig({ environment: {}, settings });
  if (store.url.engine !== 'sqlite') throw new Error('another engine');
  const { handle } = connectTo(store.url.path);
  const version = () => handle.pragma('data_version', { simple: true });
  const before = version();
  expect(bySubject(await examine(settings), 'store')?.detail).toMatch(/can be .*written/i);
  expect(version()).not.toBe(before);
});

test('a store that was filled with another secret key is a failure with what to do', async () => {
  const tracker = await trackerWith();
  const settings = settingsFor(tracker);
  const other = { ...settings, secretKey: Buffer.alloc(32, 1).toString('base64') as never };
  expect(bySubject(await examine(settings), 'secret key')).toBeUndefined();
  expect(bySubject(await examine(other), 'secret key')).toEqual({
    subject: 'secret key',
    state: 'failed',
    detail:
      'secretKey: found another key, expected the key that the store was filled with (if it is lost, `trackport store rekey` says what is lost with it)',
    fix: expect.stringContaining('put the former key back'),
  });
  expect(bySubject(await examine(other), 'store')).toBeUndefined();
});

test('a key file that cannot be read is told as such', async () => {
  const tracker = await trackerWith();
  const store = path.join(temporaryFolder(), 'new.db');
  const settings = settingsFor(tracker, { store: { url: `sqlite:${store}` } });
  const { secretKey: _none, ...keyless } = settings;
  writeFileSync(store, '');
  mkdirSync(`${store}.key`);
  expect(bySubject(await examine(keyless as never), 'secret key')).toMatchObject({
    state: 'failed',
    detail: expect.stringMatching(/cannot be read \(EISDIR\), .*make it readable/) as string,
  });
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
    const url = await openServer((request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(answer(url, request.url ?? '')));
    });
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
