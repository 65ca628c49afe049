import type { LostReceipt } from '#partners/receipts/receipt.ts';
import type { Statements } from '#shared/database.ts';
import { either } from '#shared/sql.ts';

/** By which the store knows the key that it was filled with; undefined: with none yet. */
export async function readFingerprint(db: Statements): Promise<Buffer | undefined> {
  const row = await db.get<{ fingerprint: Buffer }>('SELECT fingerprint FROM secret_key');
  return row?.fingerprint;
}

/** Takes the offered one where there is none, and returns the one in force; of several that are offered at once, one. */
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

/** An event that came once more while it was worked is matched anew at its end. */
const UNREAD = `
  SELECT id, partner_id, received_at FROM receipt WHERE number IN (SELECT receipt FROM event
    WHERE outcome = 'PENDING' AND (stage = 'match' OR again > 0)) ORDER BY number`;

/** The directory keeps its rows, which tell what may be shown; the next crawl adds hashes to them. */
const DROP = `
  DELETE FROM session_once; DELETE FROM session;
  DELETE FROM directory_key; DELETE FROM directory_merge; DELETE FROM deletion_name; DELETE FROM same_event;
  UPDATE event SET payload = NULL WHERE payload IS NOT NULL; UPDATE event SET digest = NULL WHERE digest IS NOT NULL;
  UPDATE directory_state SET rules_check = ${either("''", 'zeroblob(0)')};
  DELETE FROM secret_key`;

/** Answers the fingerprint of the key that a store gets; nothing is changed when it rejects. */
export type Rekeying = (
  lost: readonly LostReceipt[],
  former: Buffer | undefined,
) => Promise<Buffer>;

/** Replaces the key of a stopped store, in the transaction of `db`. */
export async function replaceKey(db: Statements, decide: Rekeying): Promise<void> {
  const next = await decide(await db.all(UNREAD), await readFingerprint(db));
  await db.exec(DROP);
  await takeFingerprint(db, next);
}
