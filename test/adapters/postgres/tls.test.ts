/** Errors about a server whose TLS is not as store.url wants it. */
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openDatabase } from '#adapters/postgres/database.ts';
import { clientOf } from '#adapters/postgres/pool.ts';
import { Secret } from '#shared/crypto/secret.ts';
import { storeError } from '#compose/start-error.ts';

/** Signed by itself, for db.example.com. */
const CERTIFICATE = 'test/fixtures/tls/db.example.com.pem';

/** A server that answers the request for TLS so; its port. */
async function serve(answer: (socket: Socket) => void): Promise<number> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket.on('error', () => undefined));
    socket.once('data', () => answer(socket));
  });
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const withTls = (socket: Socket): void => {
  socket.write('S');
  const [key, cert] = [CERTIFICATE.replace('.pem', '.key.pem'), CERTIFICATE].map((path) =>
    readFileSync(path),
  );
  new TLSSocket(socket, { isServer: true, key, cert }).on('error', () => undefined);
};

async function toldOf(port: number, query: string): Promise<string> {
  const url = `postgres://user:hush@127.0.0.1:${port}/leads?${query}`;
  const database = openDatabase({ url });
  onTestFinished(() => database.close());
  const error: unknown = await database.get('SELECT 1').catch((reason: unknown) => reason);
  const told = storeError(error, { engine: 'postgres', url: new Secret(url) });
  return told instanceof Error ? told.message : String(told);
}

test.each<[string, (socket: Socket) => void, string, RegExp]>([
  [
    'speaks none',
    (socket) => socket.write('N'),
    'sslmode=verify-full',
    /speaks no TLS\. Switch TLS on at the server \(ssl = on\), or take sslmode and sslrootcert out of store\.url\.$/,
  ],
  [
    'has a certificate for another host',
    withTls,
    `sslmode=verify-full&sslrootcert=${CERTIFICATE}`,
    /is for another host\. \(ERR_TLS_CERT_ALTNAME_INVALID\) In store\.url name a host that the certificate is for \(DNS:db\.example\.com\)\.$/,
  ],
  [
    'has a certificate that nobody known has signed',
    withTls,
    'sslmode=require',
    /is not trusted\. \(DEPTH_ZERO_SELF_SIGNED_CERT\) Nobody known has signed it: name the CA in store\.url \(sslrootcert=PATH\)\.$/,
  ],
])('a server that %s', async (_name, answer, query, expected) => {
  const message = await toldOf(await serve(answer), query);
  expect(message).toMatch(expected);
  expect(message).not.toContain('hush');
});

test.each(['prefer', 'require', 'verify-ca', 'verify-full', 'disable', 'no-verify'])(
  'sslmode=%s makes the driver warn of nothing: a program reads what commands print',
  (mode) => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    onTestFinished(() => warned.mockRestore());
    const url = `postgres://user@127.0.0.1/leads?sslmode=${mode}&application_name=sslmode%3Drequire`;
    const { ssl } = new pg.Client(clientOf({ url }));
    expect(warned).not.toHaveBeenCalled();
    expect(ssl).toEqual({ disable: false, 'no-verify': { rejectUnauthorized: false } }[mode] ?? {});
  },
);
