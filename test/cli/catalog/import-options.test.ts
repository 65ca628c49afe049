import { describe, expect, test } from 'vitest';
import { readImportSettings, readServer } from '#cli/commands/catalog/import-options.ts';

const server = 'https://trackport.example.com/';
const client = { issuer: 'https://id.example.com', clientId: 'ci' };
const TOKEN = 'secret token';

describe('who comes to a server', () => {
  test('is a token of the command line before one of the environment', () => {
    const environment = { TRACKPORT_TOKEN: 'two' };
    const given = readServer({ server, token: 'one' }, environment, 'import');
    expect(given.server).toBe('https://trackport.example.com');
    expect(given.credential.kind === 'token' && given.credential.token.reveal()).toBe('one');
    const found = readServer({ server }, { TRACKPORT_TOKEN: 'two\n' }, 'import').credential;
    expect(found.kind === 'token' && found.token.reveal()).toBe('two');
  });

  test('is a client with no more scopes than the work needs', () => {
    const environment = { TRACKPORT_CLIENT_SECRET: 's', TRACKPORT_TOKEN: 'ignored' };
    const scopeOf = (work: 'check' | 'plan' | 'import' | 'publish', more = {}) => {
      const read = readServer({ server, ...client, ...more }, environment, work).credential;
      return read.kind === 'client' ? read.scope : undefined;
    };
    expect(scopeOf('check')).toBe('catalog:read');
    expect(scopeOf('plan')).toBe('catalog:read');
    expect(scopeOf('import')).toBe('catalog:read catalog:write');
    expect(scopeOf('publish')).toBe('catalog:read catalog:write catalog:publish');
    expect(scopeOf('publish', { scope: 'api://x/.default' })).toBe('api://x/.default');
  });

  test.each([
    [{ server }, {}, 'Say who comes'],
    [{ server }, { TRACKPORT_TOKEN: '' }, 'Say who comes'],
    [{ server, token: '' }, {}, 'The token is empty'],
    [{ server, token: TOKEN }, {}, 'has blanks'],
    [{ server, token: 'a', ...client }, {}, 'either --token or --client-id'],
    [{ server, ...client }, {}, 'TRACKPORT_CLIENT_SECRET'],
    [{ server, issuer: client.issuer }, { TRACKPORT_CLIENT_SECRET: 's' }, '--client-id'],
    [{ token: 'a' }, {}, 'Say where to: --server'],
  ])('is refused with %j in the environment %j', (options, environment, message) => {
    const read = () => readServer(options, environment, 'import');
    expect(read).toThrow(expect.objectContaining({ name: 'UsageError' }));
    expect(read).toThrow(message);
    expect(read).not.toThrow(TOKEN);
  });
});

describe('the address of a server', () => {
  const root = (address: string, more = {}) =>
    readServer({ server: address, token: 'a', ...more }, {}, 'import').server;

  test.each([
    ['https://a.example', 'https://a.example'],
    ['https://a.example/trackport/', 'https://a.example/trackport'],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['http://LOCALHOST', 'http://localhost'],
    ['http://[::1]:1', 'http://[::1]:1'],
  ])('%s is taken', (address, taken) => {
    expect(root(address)).toBe(taken);
  });

  test.each([
    'a.example',
    'https://user:password@a.example',
    'https://a.example?x=1',
    'http://a.example',
    'http://127.0.0.1.example',
    '',
  ])('%j is refused', (address) => {
    expect(() => root(address)).toThrow(expect.objectContaining({ name: 'UsageError' }));
  });

  test('is plain http of another machine only when that is said', () => {
    expect(root('http://a.example', { allowHttp: true })).toBe('http://a.example');
    const issuer = { ...client, issuer: 'http://id.example' };
    const environment = { TRACKPORT_CLIENT_SECRET: 's' };
    const read = (more = {}) => readServer({ server, ...issuer, ...more }, environment, 'check');
    expect(() => read()).toThrow('--issuer is not https');
    expect(read({ allowHttp: true }).credential).toMatchObject({ issuer: 'http://id.example' });
  });
});

test.each([
  [{ check: true, publish: true }, false, 'Give one of --check and --publish'],
  [{ breaking: 'accept' as const }, false, '--breaking goes with'],
  [{ breaking: 'accept' as const, dryRun: true }, false, '--breaking goes with'],
  [{ format: 'github' as const }, true, 'either --json or --format github'],
])('%j does not go together', (options, isJson, message) => {
  expect(() => readImportSettings(options, isJson)).toThrow(message);
});
