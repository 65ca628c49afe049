import { describe, expect, test } from 'vitest';
import { listenError, StartError, storeError } from '#compose/start-error.ts';
import { Secret } from '#shared/crypto/secret.ts';
import { TrackportError } from '#shared/errors.ts';

const failureWith = (code: string): Error => Object.assign(new Error('internal words'), { code });
const sqlite = { engine: 'sqlite', path: 'data/trackport.db' } as const;

function messageOf(error: unknown): string {
  expect(error).toBeInstanceOf(StartError);
  return (error as StartError).message;
}

describe('a port that cannot be had is one line with a remedy', () => {
  test.each([
    ['EADDRINUSE', 'Port 80 on here is in use. '],
    ['EADDRNOTAVAIL', 'This machine has no address here. '],
    ['EACCES', 'Port 80 may not be used by this user. '],
    ['ENOTFOUND', 'The host name here is unknown. '],
    ['EAI_AGAIN', 'The host name here cannot be looked up. '],
  ])('%s', (code, beginning) => {
    const message = messageOf(listenError(failureWith(code), { host: 'here', port: 80 }));
    expect(message.startsWith(beginning)).toBe(true);
    expect(message.length).toBeGreaterThan(beginning.length);
    expect(message).not.toMatch(/\n|internal words/);
  });
});

test('the remedy names what sets this very port', () => {
  const address = { host: 'here', port: 80 };
  for (const code of ['EADDRINUSE', 'EACCES']) {
    const error = failureWith(code);
    expect(messageOf(listenError(error, address))).toContain(' with --port');
    const ofOperations = messageOf(listenError(error, { ...address, setBy: 'server.opsPort' }));
    expect(ofOperations).toContain(' with server.opsPort');
    expect(ofOperations).not.toContain('--port');
  }
});

describe('a store that cannot be used is one line with a remedy', () => {
  test.each([
    ['ENOSPC', 'Free some space'],
    ['SQLITE_FULL', 'Free some space'],
    ['SQLITE_IOERR_SHMSIZE', 'Free some space'],
    ['EROFS', 'writable for this user'],
    ['SQLITE_CORRUPT', 'Restore a backup'],
    ['SQLITE_READONLY_DIRECTORY', 'writable for this user'],
    ['SQLITE_NOTADB', 'Restore a backup'],
    ['SQLITE_IOERR_SHORT_READ', 'mend the disk'],
    ['EIO', 'mend the disk'],
    ['SQLITE_BUSY', 'Try again'],
    ['SQLITE_CANTOPEN', 'name another file in store.url'],
  ])('%s', (code, remedy) => {
    const error = new TrackportError('store-unavailable', {
      detail: 'The store fails.',
      cause: failureWith(code),
    });
    const message = messageOf(storeError(error, sqlite));
    expect(message).toContain('data/trackport.db');
    expect(message).toContain(code);
    expect(message).toContain(remedy);
    expect(message).not.toMatch(/\n|internal words/);
  });
});

test('what is neither passes unchanged', () => {
  const bug = new TypeError('a bug');
  expect(listenError(bug, { host: 'here', port: 80 })).toBe(bug);
  expect(storeError(bug, sqlite)).toBe(bug);
});

test.each([
  ['ECONNREFUSED', /Start the server, or change host and port in store\.url\.$/],
  ['28P01', /Change user and password in store\.url\.$/],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', /name the CA in store\.url \(sslrootcert=PATH\)\.$/],
  ['ERR_TLS_CERT_ALTNAME_INVALID', /In store\.url name a host that the certificate is for\.$/],
  ['CERT_HAS_EXPIRED', /a certificate that is valid now/],
  ['ENOENT', /A file that store\.url names is not there\.$/],
  ['3F000', /a search_path without a schema that is there\.$/],
  ['3D000', /Create it \(createdb\), or name another one in store\.url\.$/],
])('a PostgreSQL server that fails with %s is told without user and password', (code, remedy) => {
  const url = new Secret('postgres://trackport:hush@db.example.com:5433/leads');
  const cause = Object.assign(new Error('driver'), { code });
  const error = new TrackportError('store-unavailable', { detail: 'Gone.', cause });
  const told = storeError(error, { engine: 'postgres', url });
  expect(told).toBeInstanceOf(StartError);
  const { message } = told as StartError;
  expect(message).toContain('postgres://db.example.com:5433/leads cannot be used: Gone.');
  expect(message).toMatch(remedy);
  expect(message).not.toMatch(/hush|trackport:/);
});

test('a PostgreSQL server that takes nobody without TLS', () => {
  const words = 'no pg_hba.conf entry for host "127.0.0.1", user "u", database "d", no encryption';
  const cause = Object.assign(new Error(words), { code: '28000' });
  const error = new TrackportError('store-unavailable', { detail: 'Refused.', cause });
  const told = storeError(error, { engine: 'postgres', url: new Secret('postgres://u@h/d') });
  expect(messageOf(told)).toMatch(/It wants TLS: add sslmode=verify-full to store\.url\.$/);
});
