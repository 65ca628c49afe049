import type { Statements } from '#shared/database.ts';

/** By which the store knows the key that it was filled with; undefined: with none yet. */
export async function readFingerprint(db: Statements): Promise<Buffer | undefined> {
  const row = await db.get<{ fingerprint: Buffer }>('SELECT fingerprint FROM secret_key');
  return row?.fingerprint;
}

/** The same, after the offered one was taken where there was none; of several that are offered at once, one. */
export async function takeFingerprint(
  db: Statements,
  fingerprint: Buffer,
): Promise<Buffer | undefined> {
  await db.run(
    'INSERT INTO secret_key (one, fingerprint) VALUES (1, @fingerprint) ON CONFLICT DO NOTHING',
    { fingerprint },
  );
  return readFingerprint(db);
}
