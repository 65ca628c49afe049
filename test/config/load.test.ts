import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { type ConfigRequest, loadConfig } from '#config/load.ts';
import { ConfigError, type Problem } from '#config/problems.ts';
import type { Config } from '#config/schema/schema.ts';
import { temporaryFolder } from '../support/folder.ts';

const needed = { repository: 'acme/leads', auth: { token: 'a-token' } };

/** Writes a file below a folder that is gone after the test. */
function temporaryFile(name: string, content: string): string {
  const file = path.join(temporaryFolder(), name);
  writeFileSync(file, content);
  return file;
}

function load(content: unknown, request: Partial<ConfigRequest> = {}): Config {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  return loadConfig({ file: temporaryFile('trackport.yaml', text), environment: {}, ...request });
}

function problemsOf(work: () => unknown): readonly Problem[] {
  try {
    work();
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

function problems(content: unknown, request: Partial<ConfigRequest> = {}): readonly Problem[] {
  return problemsOf(() => load(content, request));
}

describe('values', () => {
  test('durations become milliseconds, sizes bytes, everything is frozen', () => {
    const config = load({
      tracker: { ...needed, requestTimeout: '500ms', writeInterval: '1m' },
      leads: { freshFor: '15s', staleIfError: '30d', cacheSizeMax: '1MiB' },
      deletions: { retry: ['5s', '24h'] },
    });
    expect(config.tracker).toMatchObject({ requestTimeout: 500, writeInterval: 60_000 });
    expect(config.leads).toMatchObject({ freshFor: 15_000, staleIfError: 2_592_000_000 });
    expect(config.leads.cacheSizeMax).toBe(1_048_576);
    expect(config.deletions.retry).toEqual([5000, 86_400_000]);
    expect(Object.isFrozen(config.leads.form[0])).toBe(true);
    expect(Object.isFrozen(config.deletions.retry)).toBe(true);
  });

  test('an address is in ASCII, as it goes over the wire, and without a last slash', () => {
    const publicUrlOf = (publicUrl: string) =>
      load({ tracker: needed, server: { publicUrl } }).server.publicUrl;
    expect(publicUrlOf('https://bücher.example.com/ä/')).toBe(
      'https://xn--bcher-kva.example.com/%C3%A4',
    );
    expect(publicUrlOf('https://Leads.example.com:443/a/../b/')).toBe(
      'https://Leads.example.com:443/a/../b',
    );
  });

  test('the form keeps its order, and only message is multi-line by itself', () => {
    const form = { message: 'Message', email: 'E-mail', consent: { heading: 'Consent' } };
    expect(load({ tracker: needed, leads: { form } }).leads.form).toEqual([
      { name: 'message', heading: 'Message', multiline: true },
      { name: 'email', heading: 'E-mail', multiline: false },
      { name: 'consent', heading: 'Consent', multiline: false },
    ]);
    const other = {
      message: { heading: 'M', multiline: false },
      notes: { heading: 'N', multiline: true },
    };
    expect(load({ tracker: needed, leads: { form: other } }).leads.form).toMatchObject([
      { multiline: false },
      { multiline: true },
    ]);
  });

  test('secrets print as [redacted], whole and in part', () => {
    const config = load({
      tracker: { ...needed, adminToken: 'admin-token', webhookSecrets: ['hook-secret'] },
      secretKey: Buffer.alloc(32, 7).toString('base64'),
      partners: { crm: { scheme: 'hmac-sha256', secrets: ['crm-secret'] } },
    });
    const printed = `${inspect(config, { depth: 9 })}${JSON.stringify(config)}`;
    for (const secret of ['a-token', 'admin-token', 'hook-secret', 'crm-secret', 'BwcHBwc'])
      expect(printed).not.toContain(secret);
    expect(config.tracker.webhookSecrets[0]?.reveal()).toBe('hook-secret');
  });

  test.each([
    ['sqlite:t', 't'],
    ['sqlite:data/track port.db', 'data/track port.db'],
    ['sqlite:///var/lib/trackport.db', '///var/lib/trackport.db'],
  ])('%s names a file', (url, path) => {
    expect(load({ tracker: needed, store: { url } }).store.url).toEqual({ engine: 'sqlite', path });
  });

  test('secrets of a partner may be dated', () => {
    const secrets = [
      'plain',
      { value: 'dated', notBefore: '2026-01-01', notAfter: '2026-02-01T00:00:00+01:00' },
    ];
    const config = load({
      tracker: needed,
      partners: { crm: { scheme: 'signature-v3', secrets } },
    });
    expect(config.partners['crm']?.secrets).toMatchObject([
      {},
      { notBefore: Date.UTC(2026, 0, 1), notAfter: Date.UTC(2026, 0, 31, 23) },
    ]);
  });
});

const privateKey = generateKeyPairSync('rsa', { modulusLength: 2048 })
  .privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  })
  .toString();

describe('references', () => {
  test('${NAME} and ${file:PATH} are taken over, also inside a text and for numbers', () => {
    const key = temporaryFile('key.pem', `\n${privateKey}\n`);
    const config = load(
      {
        server: { port: '${LISTEN}', publicUrl: 'https://${HOST_NAME}/x' },
        tracker: {
          repository: 'acme/leads',
          auth: { appId: '${APP}', installationId: 9, privateKey: `\${file:${key}}` },
        },
        leads: { priorityLabelPrefix: '$${not a reference}' },
      },
      { environment: { LISTEN: '9000', HOST_NAME: 'example.org', APP: '17' } },
    );
    expect(config.server).toMatchObject({ port: 9000, publicUrl: 'https://example.org/x' });
    expect(config.tracker.auth).toMatchObject({ appId: '17', installationId: '9' });
    expect(config.tracker.auth.privateKey?.reveal()).toBe(privateKey.trim());
    expect(config.leads.priorityLabelPrefix).toBe('${not a reference}');
  });

  test('what is missing is named once, and the value is not checked any further', () => {
    expect(
      problems({
        server: { port: '${NOT_SET}' },
        tracker: { ...needed, auth: { token: '${file:/not/there}' } },
        secretKey: '${not a name}',
      }),
    ).toEqual([
      {
        path: 'server.port',
        found: '${NOT_SET}',
        allowed: 'the environment variable NOT_SET to be set',
      },
      {
        path: 'tracker.auth.token',
        found: '${file:/not/there}',
        allowed: 'a file that can be read (ENOENT: there is none)',
      },
      { path: 'secretKey', found: '${not a name}', allowed: expect.stringContaining('${NAME}') },
    ]);
  });

  test('an empty variable is no secret', () => {
    const tracker = { ...needed, auth: { token: '${EMPTY}' } };
    expect(problems({ tracker }, { environment: { EMPTY: '' } })).toEqual([
      { path: 'tracker.auth.token', found: '${EMPTY}, which is empty', allowed: 'a token' },
    ]);
  });
});

describe('environment', () => {
  const crm = { scheme: 'hmac-sha256', secrets: ['from-the-file'] };

  test('a variable wins over the file, for keys in camel case and of every kind', () => {
    const config = load(
      { tracker: needed, server: { port: 1 }, partners: { 'crm-one': crm } },
      {
        environment: {
          TRACKPORT_SERVER_PORT: '9000',
          TRACKPORT_SERVER_PUBLIC_URL: 'https://example.com',
          TRACKPORT_SERVER_TRUST_PROXY: 'true',
          TRACKPORT_LEADS_FRESH_FOR: '1m',
          TRACKPORT_LEADS_PORTAL_AUTHORS: 'one[bot], two[bot]',
          TRACKPORT_TRACKER_WEBHOOK_SECRETS: '["with, comma"]',
          TRACKPORT_TRACKER_AUTH_TOKEN: '${file:/dev/null}x',
          TRACKPORT_PARTNERS_CRM_ONE_SECRETS: 'from-the-environment',
          TRACKPORT_PARTNERS_CRM_ONE_ENABLED: 'false',
        },
      },
    );
    expect(config.server).toMatchObject({
      port: 9000,
      publicUrl: 'https://example.com',
      trustProxy: true,
    });
    expect(config.leads).toMatchObject({
      freshFor: 60_000,
      portalAuthors: ['one[bot]', 'two[bot]'],
    });
    expect(config.tracker.webhookSecrets[0]?.reveal()).toBe('with, comma');
    expect(config.tracker.auth.token?.reveal()).toBe('x');
    expect(config.partners['crm-one']).toMatchObject({ enabled: false });
    expect(config.partners['crm-one']?.secrets[0]?.value.reveal()).toBe('from-the-environment');
  });

  test('the environment alone is enough, whole sections included', () => {
    const config = loadConfig({
      environment: {
        TRACKPORT_TRACKER_REPOSITORY: 'acme/leads',
        TRACKPORT_TRACKER_AUTH_TOKEN: 't',
        TRACKPORT_PARTNERS: '{ crm: { scheme: hmac-sha256, secrets: [s] } }',
        TRACKPORT_LEADS_FORM: '{ email: E-mail }',
      },
    });
    expect(Object.keys(config.partners)).toEqual(['crm']);
    expect(config.leads.form).toEqual([{ name: 'email', heading: 'E-mail', multiline: false }]);
  });

  test('a variable that is nearly one of ours is a problem, any other is left alone', () => {
    const environment = {
      TRACKPORT_SERVER_PROT: '1',
      TRACKPORT_CONFIG: 'x',
      TRACKPORT_API_KEY: 'y',
      TRACKPORT_PORT: 'tcp://10.0.0.1:80',
      TRACKPORT_SERVICE_PORT: '80',
    };
    expect(problems({ tracker: needed }, { environment })).toEqual([
      {
        path: 'TRACKPORT_SERVER_PROT',
        found: 'a variable that sets no key',
        allowed: 'the name of a key in capitals',
        suggestion: 'did you mean TRACKPORT_SERVER_PORT?',
      },
    ]);
  });

  test('a slip in a key below a name of the file is noticed, too', () => {
    const partner = { scheme: 'hmac-sha256', secrets: ['s'] };
    const settings = { tracker: needed, partners: { 'crm-one': partner } };
    const environment = { TRACKPORT_PARTNERS_CRM_ONE_SECRET: 'x' };
    expect(problems(settings, { environment })).toMatchObject([
      {
        path: 'TRACKPORT_PARTNERS_CRM_ONE_SECRET',
        suggestion: 'did you mean TRACKPORT_PARTNERS_CRM_ONE_SECRETS?',
      },
    ]);
  });

  test.each([
    ['true', true],
    ['10.0.0.1, ::1', ['10.0.0.1', '::1']],
    ['[10.0.0.1]', ['10.0.0.1']],
  ])('TRACKPORT_SERVER_TRUST_PROXY=%s', (text, trustProxy) => {
    const environment = { TRACKPORT_SERVER_TRUST_PROXY: text };
    expect(load({ tracker: needed }, { environment }).server.trustProxy).toEqual(trustProxy);
  });

  test('a wrong value is shown by its variable', () => {
    const environment = { TRACKPORT_LEADS_FRESH_FOR: 'soon' };
    expect(problems({ tracker: needed }, { environment })).toMatchObject([
      { path: 'leads.freshFor', found: 'TRACKPORT_LEADS_FRESH_FOR' },
    ]);
  });

  test.each([
    [{ port: '3', environment: { PORT: '2' } }, 3],
    [{ environment: { PORT: '2', TRACKPORT_SERVER_PORT: '4' } }, 2],
    [{ environment: { PORT: '', TRACKPORT_SERVER_PORT: '4' } }, 4],
    [{ environment: {} }, 1],
  ])('--port, then PORT, then server.port: %j', (request, port) => {
    expect(load({ tracker: needed, server: { port: 1 } }, request).server.port).toBe(port);
  });

  test('--port does not hide what is wrong with server.port', () => {
    const found = problems({ tracker: needed, server: { port: 65_536 } }, { port: '3' });
    expect(found).toMatchObject([{ path: 'server.port' }]);
  });

  test.each([
    ['--port', { port: '65536' }],
    ['PORT', { environment: { PORT: 'http' } }],
  ])('a wrong %s is named', (path, request) => {
    expect(problems({ tracker: needed }, request)).toMatchObject([{ path }]);
  });
});

describe('the file', () => {
  test.each([
    [
      'a: [1',
      'line 1, column 6',
      'no YAML (Flow sequence in block collection must be sufficiently indented and end with a ])',
    ],
    ['- a list', '', 'no keys'],
    ['a: *nowhere', 'line 1, column 4', 'no YAML (Unresolved alias)'],
  ])('%j is told with its place and without its content', (text, path, found) => {
    expect(problems(text)).toMatchObject([{ path, found }]);
  });

  test('YAML may merge what partners have in common', () => {
    const text = `
tracker: { repository: acme/leads, auth: { token: t } }
partners:
  crm-one: &crm { scheme: hmac-sha256, secrets: [one], limitPerMinute: 60 }
  crm-two: { <<: *crm, secrets: [two] }`;
    const file = temporaryFile('merged.yaml', text);
    expect(loadConfig({ file, environment: {} }).partners['crm-two']).toMatchObject({
      scheme: 'hmac-sha256',
      limitPerMinute: 60,
    });
  });

  test('a proxy may be named by its address, its network or its kind', () => {
    const trustProxy = ['10.0.0.1', '10.0.0.0/8', '::1', 'fd00::/8', 'loopback', 'uniquelocal'];
    expect(load({ tracker: needed, server: { trustProxy } }).server.trustProxy).toEqual(trustProxy);
  });

  test('an empty file is a configuration without keys', () => {
    expect(problems('# nothing\n').map(({ path }) => path)).toEqual([
      'tracker.repository',
      'tracker.auth',
    ]);
  });

  test('one that is not there is named', () => {
    const request = { file: '/not/there.yaml', environment: {} };
    expect(problemsOf(() => loadConfig(request))).toMatchObject([
      { path: '/not/there.yaml', allowed: 'a file that can be read (ENOENT: there is none)' },
    ]);
  });
});
