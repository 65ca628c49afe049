import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type PostgresDatabase, openDatabase } from '#adapters/postgres/database.ts';
import {
  connectToPostgres,
  emptyPostgres,
  type TestDatabase,
} from '../../support/postgres/database.ts';

/** A connection to the server, and the client that has it at the moment. */
type Server = { socket: Socket; client: Client | undefined };
type Client = { socket: Socket; server: Server | undefined };

const READY = 'Z'.charCodeAt(0);
const IDLE = 'I'.charCodeAt(0);
const TERMINATE = 'X'.charCodeAt(0);
/** A message is its kind, and its length with these four bytes. */
const HEAD_BYTES = 5;

/**
 * Stands in front of a database and deals out its connections to clients by transaction, the one first
 * that came back last, as PgBouncer does with `pool_mode=transaction`.
 */
async function startPooler({ url }: TestDatabase): Promise<TestDatabase> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  const free: Server[] = [];
  const waiting: { client: Client; bytes: Buffer }[] = [];
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('error', () => undefined);
  };
  const give = (server: Server, client: Client): void => {
    server.client = client;
    client.server = server;
  };
  const takeBack = (server: Server): void => {
    if (server.client) server.client.server = undefined;
    server.client = undefined;
    const next = waiting.shift();
    if (!next) return void free.push(server);
    give(server, next.client);
    server.socket.write(next.bytes);
  };
  const pooler = createServer((socket) => {
    // Each client proves itself on a connection of its own, which goes to all of them then.
    const server: Server = { socket: keep(connect(Number(port), hostname)), client: undefined };
    const client: Client = { socket: keep(socket), server: undefined };
    give(server, client);
    onMessages(server.socket, (message) => {
      server.client?.socket.write(message);
      if (message[0] === READY && message[HEAD_BYTES] === IDLE) takeBack(server);
    });
    socket.on('data', (bytes) => {
      const isLeaving = bytes[0] === TERMINATE && !client.server;
      if (isLeaving) return void socket.end();
      if (client.server) return void client.server.socket.write(bytes);
      const found = free.pop();
      if (!found) return void waiting.push({ client, bytes });
      give(found, client);
      found.socket.write(bytes);
    });
  });
  pooler.listen(0, '127.0.0.1');
  await once(pooler, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    pooler.close();
  });
  const pooled = new URL(url);
  pooled.host = `127.0.0.1:${(pooler.address() as AddressInfo).port}`;
  return { url: pooled.href };
}

/** Calls with each whole message that the server sends. */
function onMessages(socket: Socket, onMessage: (message: Buffer) => void): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.on('data', (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    while (rest.length >= HEAD_BYTES) {
      const end = 1 + rest.readUInt32BE(1);
      if (rest.length < end) return;
      onMessage(rest.subarray(0, end));
      rest = rest.subarray(end);
    }
  });
}

const pooled = async (): Promise<PostgresDatabase> =>
  connectToPostgres(await startPooler(await emptyPostgres()));

const shared = {
  code: 'store-unavailable',
  detail: expect.stringContaining('pool_mode=session'),
};

test('a pooler that deals out connections by transaction is told apart, and refused', async () => {
  const database = await pooled();
  for (const _look of [1, 2])
    await expect(database.refuseSharedConnections()).rejects.toMatchObject(shared);
});

test('it is also told apart while its connections are busy', async () => {
  const database = await pooled();
  await database.transaction(async () => {
    await expect(database.refuseSharedConnections()).rejects.toMatchObject(shared);
  });
});

test('the server itself is not, and its connections go on', async () => {
  const database = await connectToPostgres(await emptyPostgres());
  for (const _look of [1, 2]) await database.refuseSharedConnections();
  expect(await database.get('SELECT 1 AS one')).toEqual({ one: 1 });
});

test('where there is room for one connection only, nothing is found out', async () => {
  const database = openAlone(await emptyPostgres());
  await expect(database.refuseSharedConnections()).resolves.toBeUndefined();
});

describe('what a connection has prepared', () => {
  const NAMES = 'SELECT name FROM pg_prepared_statements';
  const unavailable = { code: 'store-unavailable' };

  test('and is gone is trouble of the store, and the next connection has it again', async () => {
    const database = openAlone(await emptyPostgres());
    await database.all(NAMES);
    const before = await database.all(NAMES);
    await database.exec('DEALLOCATE ALL');
    await expect(database.all(NAMES)).rejects.toMatchObject(unavailable);
    expect(await database.all(NAMES)).toEqual(before);
  });

  test('has the same name for the same statement only, and a name that is taken is trouble, too', async () => {
    const own = await emptyPostgres();
    const [first, other] = [openAlone(own), openAlone(own)];
    await first.all(NAMES);
    const [prepared] = await first.all<{ name: string }>(NAMES);
    expect(await other.all(`${NAMES} WHERE true`)).not.toContainEqual(prepared);
    const third = openAlone(own);
    await third.exec(`PREPARE "${prepared?.name}" AS SELECT 2`);
    await expect(third.all(NAMES)).rejects.toMatchObject(unavailable);
    expect(await third.all(NAMES)).toEqual([prepared]);
  });
});

/** With one connection, on which everything runs. */
function openAlone({ url }: TestDatabase): PostgresDatabase {
  const database = openDatabase({ url, connectionsMax: 1, connectTimeoutMs: 2000 });
  onTestFinished(() => database.close());
  return database;
}
