import type { Database as Handle } from 'better-sqlite3';
import type { Connection } from './connection/connection.ts';
import type { WriteFamily } from './writer/writer.ts';

/** By which the store knows the key that it was filled with; undefined: with none yet. */
export function readFingerprint(handle: Handle): Buffer | undefined {
  return handle.prepare<[], Buffer>('SELECT fingerprint FROM secret_key').pluck().get();
}

type KeyWrites = ReturnType<typeof createKeyWrites>;

export const keyWrites: WriteFamily<undefined, KeyWrites> = {
  name: 'secret-key',
  create: createKeyWrites,
};

export function createKeyWrites({ handle }: Pick<Connection, 'handle'>) {
  const take = handle.prepare<[Buffer]>(
    'INSERT INTO secret_key (one, fingerprint) VALUES (1, ?) ON CONFLICT DO NOTHING',
  );
  return { take: (fingerprint: Buffer): void => void take.run(fingerprint) };
}
