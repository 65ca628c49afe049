import { bindWrites, type Session, type StoreDatabase } from './session.ts';

/** By which the store knows the key that it was filled with; undefined: with none yet. */
export async function readFingerprint(session: Session): Promise<Buffer | undefined> {
  const row = await session.get<{ fingerprint: Buffer }>('SELECT fingerprint FROM secret_key');
  return row?.fingerprint;
}

/** The same, after an offered one was taken where there was none; of several that are offered at once, one. */
export function createFingerprint(database: StoreDatabase) {
  const { take } = bindWrites(database.writer.call, 'secret-key', keyWrites);
  return async (offered?: Buffer): Promise<Buffer | undefined> => {
    if (offered) await take(offered);
    return readFingerprint(database);
  };
}

export const keyWrites = {
  take: async (session: Session, fingerprint: Buffer): Promise<void> => {
    await session.run(
      'INSERT INTO secret_key (one, fingerprint) VALUES (1, @fingerprint) ON CONFLICT DO NOTHING',
      { fingerprint },
    );
  },
};
