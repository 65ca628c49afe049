import fc from 'fast-check';
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { withValue } from '#config/environment.ts';
import { allKeyPaths } from '#config/schema/key-tree.ts';
import { loadConfig } from '#config/load.ts';
import { ConfigError, type Problem } from '#config/problems.ts';

const needed = { repository: 'acme/leads', auth: { token: 'a-token' } };
const base = { tracker: needed };
const secretKey = Buffer.alloc(32, 1).toString('base64');
const partner = { scheme: 'hmac-sha256', secrets: ['s'] };

function problems(settings: Record<string, unknown>): readonly Problem[] {
  try {
    loadConfig({ environment: {}, settings });
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pem = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
const publicPem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
const app = (key: string) => ({
  tracker: { ...needed, auth: { appId: 1, installationId: 2, privateKey: key } },
});

test('a valid configuration has no problem', () => {
  expect(problems(base)).toEqual([]);
  expect(problems(app(pem))).toEqual([]);
});

test('a rule may do everything that rules can, and approve where it says so', () => {
  const events = [
    { type: 'a', addLabels: ['approved'], removeLabels: ['won'], mayApprove: true, reopen: true },
    { type: 'b', assign: 'octocat' },
    { type: '*', assign: ['octocat', 'robot[bot]'], close: true, comment: '{partner} {type}' },
    { type: 'c', setFields: { region: 'EMEA', size: 0, due: '2026-12-01', products: ['A', 'B'] } },
  ];
  const issueFields = { region: 'Region', size: 'Size', due: 'Due', products: 'Products' };
  const leads = { issueFields };
  expect(problems({ ...base, leads, partners: { crm: { ...partner, events } } })).toEqual([]);
});

describe('one wrong value of a rule for events is one problem at its key', () => {
  test.each<[key: string, rule: Record<string, unknown>]>([
    ['events[0].type', { close: true }],
    ['events[0]', { type: '*' }],
    ['events[0].reopen', { type: '*', close: true, reopen: true }],
    ['events[0].addLabels[1]', { type: '*', addLabels: ['won', 'Deleted-By-Partner'] }],
    ['events[0].removeLabels[0]', { type: '*', removeLabels: ['deleted-by-partner'] }],
    ['events[0].addLabels[0]', { type: '*', addLabels: ['APPROVED'] }],
    ['events[0].removeLabels[0]', { type: '*', removeLabels: ['approved'], mayApprove: false }],
    ['events[0].removeLabels[0]', { type: '*', addLabels: ['won'], removeLabels: ['WON'] }],
    ['events[0].addLabels', { type: '*', addLabels: [] }],
    ['events[0].assign[0]', { type: '*', assign: ['no login'] }],
    ['events[0].comment', { type: '*', comment: 'for {email}' }],
    ['events[0].label', { type: '*', close: true, label: 'won' }],
    ['events[0].setFields.regoin', { type: '*', setFields: { regoin: 'EMEA' } }],
    ['events[0].setFields.Region', { type: '*', setFields: { Region: 'EMEA' } }],
    ['events[0].setFields.region', { type: '*', setFields: { region: true } }],
    ['events[0].setFields.region', { type: '*', setFields: { region: '' } }],
    ['events[0].setFields.region', { type: '*', setFields: { region: [] } }],
    ['events[0].setFields.region', { type: '*', setFields: { region: null } }],
    ['events[0].setFields', { type: '*', setFields: 'region' }],
  ])('%s', (key, rule) => {
    const crm = { ...partner, events: [rule] };
    const leads = { issueFields: { region: 'Region' } };
    expect(problems({ ...base, leads, partners: { crm } })).toMatchObject([
      { path: `partners.crm.${key}` },
    ]);
  });
});

describe('one wrong value is one problem at its key', () => {
  test.each<[path: string, settings: Record<string, unknown>]>([
    ['server.host', { ...base, server: { host: '' } }],
    ['server.port', { ...base, server: { port: 65_536 } }],
    ['server.publicUrl', { ...base, server: { publicUrl: 'adapter.example.com' } }],
    ['server.publicUrl', { ...base, server: { publicUrl: 'https://user:pass@example.com' } }],
    ['server.trustProxy', { ...base, server: { trustProxy: 'yes' } }],
    ['server.trustProxy[0]', { ...base, server: { trustProxy: ['proxy.example.com'] } }],
    ['server.trustProxy[0]', { ...base, server: { trustProxy: ['10.0.0.0/33'] } }],
    ['server.trustProxy[0]', { ...base, server: { trustProxy: ['10.0.0.0/0'] } }],
    ['server.opsPort', { ...base, server: { port: 9, opsPort: 9 } }],
    ['server.refusedPerMinute', { ...base, server: { refusedPerMinute: 0 } }],
    ['server.logLevel', { ...base, server: { logLevel: 'loud' } }],
    ['secretKey', { ...base, secretKey: Buffer.alloc(31).toString('base64') }],
    ['secretKey', { ...base, secretKey: 'this is no base64 but long enough to be 32 bytes' }],
    ['store.url', { ...base, store: { url: 'mysql://host/db' } }],
    ['store.url', { ...base, store: { url: 'sqlite::memory:' } }],
    ['store.url', { ...base, store: { url: 'sqlite:data/trackport.db ' } }],
    ['store.url', { ...base, store: { url: 'sqlite:data/trackport.db?mode=ro' } }],
    ['store.url', { ...base, store: { url: 'sqlite://data/trackport.db' } }],
    ['store.url', { ...base, store: { url: 'sqlite:///user:word@data/trackport.db' } }],
    ['tracker.repository', { tracker: { ...needed, repository: 'acme/leads/more' } }],
    ['tracker.repository', { tracker: { ...needed, repository: 'acme/..' } }],
    ['tracker.apiUrl', { tracker: { ...needed, apiUrl: 'api.github.com' } }],
    ['tracker.auth', { tracker: { repository: 'acme/leads' } }],
    ['tracker.auth', { tracker: { ...needed, auth: { token: 't', appId: 1 } } }],
    ['tracker.auth.token', { tracker: { ...needed, auth: { token: '  ' } } }],
    [
      'tracker.auth.installationId',
      { tracker: { ...needed, auth: { appId: 1, privateKey: pem } } },
    ],
    ['tracker.auth.privateKey', app(`"${pem}"`)],
    ['tracker.auth.privateKey', app(pem.slice(0, 400))],
    ['tracker.auth.privateKey', app(publicPem)],
    ['tracker.webhookSecrets[1]', { tracker: { ...needed, webhookSecrets: ['a', ''] } }],
    ['tracker.writeInterval', { tracker: { ...needed, writeInterval: '2m' } }],
    ['tracker.requestTimeout', { tracker: { ...needed, requestTimeout: '0s' } }],
    ['leads.approvedLabel', { ...base, leads: { approvedLabel: ' ' } }],
    ['leads.approvedLabel', { ...base, leads: { approvedLabel: 'x'.repeat(256) } }],
    ['leads.form', { ...base, leads: { form: [] } }],
    [
      'leads.form',
      { ...base, leads: { form: { message: 'M', n: { heading: 'N', multiline: true } } } },
    ],
    ['leads.form.b', { ...base, leads: { form: { a: 'Same', b: ' same ' } } }],
    ['leads.form.a', { ...base, leads: { form: { a: 'two\nlines' } } }],
    ['leads.issueFields', { ...base, leads: { issueFields: ['Region'] } }],
    ['leads.issueFields.region', { ...base, leads: { issueFields: { region: '' } } }],
    ['leads.issueFields.region', { ...base, leads: { issueFields: { region: 'x'.repeat(256) } } }],
    ['leads.issueFields.my region', { ...base, leads: { issueFields: { 'my region': 'R' } } }],
    ['leads.freshFor', { ...base, leads: { freshFor: '15' } }],
    ['leads.freshFor', { ...base, leads: { freshFor: '2h' } }],
    ['leads.cacheSizeMax', { ...base, leads: { cacheSizeMax: '64MB' } }],
    ['identity.issuer', { ...base, identity: { audience: 'a' } }],
    [
      'identity.algorithms[0]',
      { ...base, identity: { issuer: 'https://i', audience: 'a', algorithms: ['HS256'] } },
    ],
    ['portal', { ...base, portal: { clientId: 'p' } }],
    [
      'identity.issuer',
      {
        ...base,
        identity: { issuer: 'http://id.example.com', audience: 'a' },
        portal: { clientId: 'p' },
      },
    ],
    [
      'server.publicUrl',
      {
        ...base,
        server: { publicUrl: 'https://example.com/trackport' },
        identity: { issuer: 'https://i', audience: 'a' },
        portal: { clientId: 'p' },
      },
    ],
    [
      'portal.scopes',
      {
        ...base,
        identity: { issuer: 'http://127.0.0.1:9', audience: 'a' },
        portal: { clientId: 'p', scopes: ['catalog:read'] },
      },
    ],
    ['partners.CRM', { ...base, partners: { CRM: partner } }],
    ['partners.crm.scheme', { ...base, partners: { crm: { ...partner, scheme: 'hmacs' } } }],
    ['partners.crm.secrets', { ...base, partners: { crm: { ...partner, secrets: [] } } }],
    ['partners.crm.secrets[0]', { ...base, partners: { crm: { ...partner, secrets: [''] } } }],
    [
      'partners.crm.secrets[0].notAfter',
      {
        ...base,
        partners: {
          crm: {
            ...partner,
            secrets: [{ value: 's', notBefore: '2026-02-01', notAfter: '2026-01-01' }],
          },
        },
      },
    ],
    [
      'partners.crm.headers.signature',
      { ...base, partners: { crm: { ...partner, headers: { signature: 'X Y' } } } },
    ],
    [
      'partners.crm.headers.timestamp',
      { ...base, partners: { crm: { ...partner, headers: { timestamp: 'X-Time' } } } },
    ],
    [
      'partners.crm.fields.email',
      { ...base, partners: { crm: { ...partner, fields: { email: 'email' } } } },
    ],
    [
      'partners.crm.fields.email[0]',
      { ...base, partners: { crm: { ...partner, fields: { email: ['/a~2'] } } } },
    ],
    [
      'partners.crm.deletions.actions[0]',
      { ...base, partners: { crm: { ...partner, deletions: { actions: ['erase'] } } } },
    ],
    [
      'partners.crm.requireBearer',
      { ...base, partners: { crm: { ...partner, requireBearer: true } } },
    ],
    ['deletions.deletedLabel', { ...base, deletions: { deletedLabel: 'Approved' } }],
    ['deletions.retry', { ...base, deletions: { retry: [] } }],
    ['catalog.types[0]', { ...base, catalog: { types: ['dataset'] } }],
    ['catalog.findings', { ...base, catalog: { findings: 'ignore' } }],
  ])('%s', (path, settings) => {
    expect(problems(settings).map((problem) => problem.path)).toContain(path);
    expect(problems(settings)).toHaveLength(1);
  });
});

describe('the scheme of a partner', () => {
  const signature = { header: 'X-Sig' };
  const hmac = (more: object) => ({
    scheme: 'hmac',
    secrets: ['s'],
    signature: { ...signature, ...more },
  });
  const time = { header: 'X-Time' };
  const signed = { content: '{timestamp}.{body}' };
  const webhooks = (...secrets: unknown[]) => ({ scheme: 'standard-webhooks', secrets });

  test.each([
    ['signature', { scheme: 'hmac', secrets: ['s'] }, 'a section with header'],
    ['signature', { ...partner, signature }, 'scheme: hmac'],
    ['signature.header', { scheme: 'hmac', secrets: ['s'], signature: {} }, 'a header name'],
    ['signature.algorithm', hmac({ algorithm: 'md5' }), 'sha256, sha512'],
    ['signature.content', hmac({ content: 'v0' }), 'a text with {body} in it'],
    ['signature.content', hmac({ content: '{body}{time}' }), 'no braces but those of {body}'],
    ['signature.content', hmac({ timestamp: time }), 'a text with {timestamp} in it'],
    ['signature.timestamp.header', hmac(signed), 'pairs.timestamp'],
    ['signature.timestamp.header', hmac({ ...signed, timestamp: {} }), 'the header of the time'],
    ['signature.timestamp.unit', hmac({ ...signed, timestamp: { ...time, unit: 'h' } }), 's, ms'],
    [
      'signature.timestamp.tolerance',
      hmac({ ...signed, timestamp: { ...time, tolerance: '2d' } }),
      'a duration from 1s to 1d',
    ],
    [
      'signature.timestamp.header',
      hmac({ ...signed, timestamp: { header: 'x-sig' } }),
      'a header of its own',
    ],
    [
      'signature.timestamp.header',
      hmac({ ...signed, timestamp: time, pairs: { timestamp: 't', signature: 'v1' } }),
      'nothing: with pairs it is pairs.timestamp',
    ],
    [
      'signature.pairs.signature',
      hmac({ ...signed, pairs: { timestamp: 't' } }),
      'such as t or v1',
    ],
    ['headers', { ...hmac({}), headers: {} }, 'nothing: hmac has them in signature'],
    ['headers.id', { ...partner, headers: { id: 'X-Id' } }, 'nothing: hmac-sha256 signs no id'],
    [
      'headers.id',
      { ...webhooks('whsec_AAAA'), headers: { signature: 'a', id: 'A' } },
      'a header of its own',
    ],
    ['secrets[0]', webhooks('a secret'), 'whsec_ and base64'],
    ['secrets[1]', webhooks('whsec_AAAA', { value: 'whsec_AAA' }), 'whsec_ and base64'],
  ])('%s of %j: %s', (key, crm, allowed) => {
    expect(problems({ ...base, partners: { crm } })).toMatchObject([
      { path: `partners.crm.${key}`, allowed: expect.stringContaining(allowed) },
    ]);
  });
});

describe('unknown keys', () => {
  test.each([
    ['server.prot', { ...base, server: { prot: 1 } }, 'did you mean port?'],
    [
      'tracker.freshFor',
      { tracker: { ...needed, freshFor: '1s' } },
      'did you mean leads.freshFor?',
    ],
    ['tracker.repo', { tracker: { ...needed, repo: 'a/b' } }, 'did you mean repository?'],
    ['server.publicUrlOfUs', { ...base, server: { publicUrlOfUs: 1 } }, 'did you mean publicUrl?'],
    ['server.wholly-unknown', { ...base, server: { 'wholly-unknown': 1 } }, undefined],
  ])('%s', (path, settings, suggestion) => {
    expect(problems(settings)).toEqual([
      {
        path,
        found: 'an unknown key',
        allowed: expect.stringMatching(/^one of \w/),
        ...(suggestion !== undefined && { suggestion }),
      },
    ]);
  });
});

const originAllowed =
  'an origin (scheme, host and port as browsers send them) such as https://sales.example.com, or "*"';

test.each([
  ['https://sales.example.com/', 'https://sales.example.com'],
  ['https://Sales.Example.com', 'https://sales.example.com'],
  ['https://sales.example.com:443', 'https://sales.example.com'],
  ['https://bücher.example', 'https://xn--bcher-kva.example'],
  ['sales.example.com', 'https://sales.example.com'],
  [' https://sales.example.com', 'https://sales.example.com'],
  ['https://*.example.com', undefined],
  ['null', undefined],
  ['everybody', undefined],
])('%j is no origin as browsers send it', (origin, meant) => {
  expect(problems({ ...base, server: { cors: [origin] } })).toEqual([
    {
      path: 'server.cors[0]',
      found: JSON.stringify(origin),
      allowed: originAllowed,
      ...(meant !== undefined && { suggestion: `did you mean ${meant}?` }),
    },
  ]);
});

test.each([
  ['https://sales.example.com'],
  ['https://xn--bcher-kva.example:8443'],
  ['http://[::1]:8080'],
  ['*'],
])('%s is an origin', (origin) => {
  expect(problems({ ...base, server: { cors: [origin] } })).toEqual([]);
});

test('a number in place of a secret is told what it lacks, and not shown', () => {
  expect(problems({ ...base, partners: { crm: { ...partner, secrets: [1234] } } })).toEqual([
    {
      path: 'partners.crm.secrets[0]',
      found: 'a number that is not shown',
      allowed: expect.any(String),
      suggestion: 'put it in quotation marks',
    },
  ]);
});

test.each([
  ['server.publicUrl', { server: { publicUrl: 'https://user:pass-word@example.com' } }],
  ['tracker.apiUrl', { tracker: { ...base.tracker, apiUrl: 'https://pass-word@example.com/' } }],
  ['server.cors[0]', { server: { cors: ['https://user:pass-word@sales.example.com'] } }],
])('a password in the address of %s is not shown', (path, values) => {
  const found = problems({ ...base, ...values });
  expect(found).toMatchObject([{ path, found: 'a value that is not shown' }]);
  expect(JSON.stringify(found)).not.toContain('pass-word');
});

test('every refusal of a value is in words of our own', () => {
  const values = ['x y!', '', 1.5, -1, true, null, [], [''], ['x y!'], [1], [null], {}, { x: 1 }];
  const foreign = allKeyPaths().flatMap((path) => {
    const parts = path.replace('partners.*', 'partners.crm').replace('*', 'aField').split('.');
    return values.flatMap((value) =>
      problems(withValue(base, parts, value) as Record<string, unknown>).filter(({ allowed }) =>
        /\b(?:Invalid|Too small|Too big|Unrecognized|received|pattern)\b/.test(allowed),
      ),
    );
  });
  expect(foreign).toEqual([]);
});

test('every problem is told at once, those between keys included', () => {
  const found = problems({
    server: { prot: 1, port: -1 },
    tracker: { repository: 'x', auth: { appId: 1, installationId: 2, privateKey: 'nonsense' } },
    leads: { form: { a: 'X', b: 'X' }, freshFor: 'soon' },
    store: { url: 'postgres://u:p@h/d' },
    portal: {},
    partners: { crm: { scheme: 'x', secrets: [], requireBearer: true } },
  });
  expect(found.map(({ path }) => path)).toEqual([
    'server.port',
    'server.prot',
    'tracker.repository',
    'leads.freshFor',
    'portal.clientId',
    'partners.crm.scheme',
    'partners.crm.secrets',
    'secretKey',
    'tracker.auth.privateKey',
    'leads.form.b',
    'portal',
    'partners.crm.requireBearer',
  ]);
});

test.each(['p@ss/w0rd', '123/w0rd', 'w0rd?'])(
  'a password that breaks the address of the store, %s, is refused and not shown',
  (password) => {
    const store = { url: `postgres://trackport:${password}@db.example.com/leads` };
    const found = problems({ ...base, secretKey, store });
    expect(found).toMatchObject([{ path: 'store.url', allowed: expect.stringContaining('%2F') }]);
    expect(JSON.stringify(found)).not.toContain('w0rd');
  },
);

test.each([
  'postgres://trackport:p%40ss%2Fw@db.example.com:5433/leads?sslmode=verify-full',
  'postgresql://trackport:a@b c%zz[@[::1]:5432/leads',
  'postgres://trackport@/leads?host=/var/run/postgresql',
  'postgres://trackport@%2Fvar%2Frun%2Fpostgresql/leads',
  'postgres://db.example.com',
])('%s is an address of a store', (url) => {
  expect(problems({ ...base, secretKey, store: { url } })).toEqual([]);
});

test('one address of a store names one host', () => {
  const store = { url: 'postgres://u@one.example,two.example/leads' };
  const found = problems({ ...base, secretKey, store });
  expect(found).toMatchObject([{ path: 'store.url' }]);
});

test('a wrong name is told beside what is wrong below it', () => {
  const crm = { scheme: 'hmac-sha256', secret: ['s'], limitPerMinute: 0 };
  const found = problems({ ...base, partners: { Bad_Name: crm } });
  expect(found.map(({ path, suggestion }) => [path, suggestion])).toEqual([
    ['partners.Bad_Name.secrets', undefined],
    ['partners.Bad_Name.limitPerMinute', undefined],
    ['partners.Bad_Name.secret', 'did you mean secrets?'],
    ['partners.Bad_Name', undefined],
  ]);
});

describe('no secret is ever shown', () => {
  const SECRET = 'hunter2-hunter2-hunter2';

  test.each<[string, Record<string, unknown>]>([
    ['a token in place of the section', { tracker: { ...needed, auth: SECRET } }],
    ['a secret in place of a list', { tracker: { ...needed, webhookSecrets: SECRET } }],
    ['a key that is no base64', { ...base, secretKey: `${SECRET} ${SECRET}` }],
    ['a key that is no PEM', app(SECRET)],
    ['a store address', { ...base, store: { url: `mysql://u:${SECRET}@h/d` } }],
    ['a partner that is a secret', { ...base, partners: { crm: SECRET } }],
  ])('%s', (_name, settings) => {
    const found = problems(settings);
    expect(found).not.toEqual([]);
    expect(JSON.stringify(found)).not.toContain(SECRET);
  });

  test('wherever a text stands by mistake', () => {
    const key = fc.constantFrom('tracker', 'secretKey', 'store', 'partners', 'portal', 'identity');
    const below = fc.constantFrom(
      'auth',
      'url',
      'token',
      'crm',
      'secrets',
      'clientSecret',
      'value',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(key, below), { minLength: 1, maxLength: 4 }), (keys) => {
        let value: unknown = SECRET;
        for (const part of keys.toReversed()) value = { [part]: value };
        expect(JSON.stringify(problems(value as Record<string, unknown>))).not.toContain(SECRET);
      }),
    );
  });
});
