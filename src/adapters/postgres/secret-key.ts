import type { Session } from './connection/database.ts';

/**
 * By which the store knows the key that it was filled with: with none yet, that is the offered one from
 * now on. Of several that are offered at once one is taken. @throws {store-unavailable}
 */
export async function readFingerprint(
  session: Session,
  offered?: Buffer,
): Promise<Buffer | undefined> {
  if (offered)
    await session.run(
      'INSERT INTO secret_key (one, fingerprint) VALUES (1, @offered) ON CONFLICT DO NOTHING',
      { offered },
    );
  const row = await session.get<{ fingerprint: Buffer }>('SELECT fingerprint FROM secret_key');
  return row?.fingerprint;
}
