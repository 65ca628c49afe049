/** Notices partners that are expected to send, and do not. */
import { type Clock, SECOND, toRfc3339, type TrackerTime } from '#shared/clock.ts';
import type { Database, Statements } from '#shared/database.ts';
import { errorFields, type Log } from '#shared/log.ts';
import { createLateWrites } from '#shared/resilience/late-writes.ts';
import { createRepeating, type Repeating } from '#shared/resilience/background.ts';
import { toRecords } from '#shared/sql.ts';
import type { Partner, PartnerList } from './partner.ts';

const READ = 'SELECT partner_id, heard_at FROM partner_heard';

/** In the order of the key, so that two instances never wait for each other. */
const HEAR = `
  INSERT INTO partner_heard (partner_id, heard_at)
  SELECT partner_id, heard_at FROM jsonb_to_recordset(@heard) AS given (partner_id text, heard_at bigint)
  ORDER BY 1
  ON CONFLICT (partner_id) DO UPDATE SET heard_at = greatest(partner_heard.heard_at, excluded.heard_at)`;

const FORGET = 'DELETE FROM partner_heard WHERE partner_id = ANY(@ids::text[])';

/**
 * Time at which the last delivery of each partner was accepted, over all instances; before its first one the time
 * from which on the partner is configured; ms since the Unix epoch.
 */
type HeardAt = ReadonlyMap<string, number>;

/** As far as the store knows. @throws {store-unavailable} */
export async function readHeard(db: Statements): Promise<HeardAt> {
  const rows = await db.all<{ partnerId: string; heardAt: number }>(READ);
  return new Map(rows.map(({ partnerId, heardAt }) => [partnerId, heardAt]));
}

async function writeHeard(db: Statements, heard: HeardAt): Promise<void> {
  const rows = [...heard].map(([partnerId, heardAt]) => ({ partnerId, heardAt }));
  await db.run(HEAR, { heard: toRecords(rows) });
}

/** Start of a partner's silence, which is longer than it is expected to be. A disabled one is not silent. */
export function silentSince(
  { enabled, expectEvery }: Pick<Partner, 'enabled' | 'expectEvery'>,
  heardAt: number,
  now: number,
): number | undefined {
  if (!enabled || expectEvery === undefined) return undefined;
  return now - heardAt > expectEvery ? heardAt : undefined;
}

/** Notes when partners were heard of, for all instances. A crash may lose its last five seconds. */
export type Hearing = {
  /** Notes that a delivery was accepted now. Costs no I/O. */
  note(partnerId: string): void;
  /** @throws {store-unavailable} */
  read(): Promise<HeardAt>;
  /** Begins to count for new partners, and anew for those that are enabled again. @throws {store-unavailable} */
  keep(partners: readonly Partner[]): Promise<void>;
  /** Writes for the last time. */
  close(): Promise<void>;
};

export function createHearing({
  database,
  clock,
  log,
}: {
  database: Database;
  clock: TrackerTime;
  log: Log;
}): Hearing {
  const noted = new Map<string, number>();
  const late = createLateWrites<string, number>({
    write: (heard) => writeHeard(database, heard),
    merge: Math.max,
    clock,
    log,
    failure: 'could not write which partners were heard of',
  });
  return {
    note: (partnerId) => {
      const now = clock.now();
      noted.set(partnerId, now);
      late.record(partnerId, now);
    },
    read: async () => {
      const heard = new Map(await readHeard(database));
      for (const [id, at] of noted) heard.set(id, Math.max(at, heard.get(id) ?? 0));
      return heard;
    },
    keep: async (partners) => {
      const heard = await readHeard(database);
      const added = partners.filter(({ id, enabled }) => enabled && !heard.has(id));
      const ids = partners.filter(({ id, enabled }) => !enabled && heard.has(id));
      const now = clock.now();
      if (added.length > 0) await writeHeard(database, new Map(added.map(({ id }) => [id, now])));
      if (ids.length > 0) await database.run(FORGET, { ids: ids.map(({ id }) => id) });
    },
    close: () => late.close(),
  };
}

/** Each partner that is expected to send, with the start of its silence, if it is silent. @throws {store-unavailable} */
export async function readSilences({
  partners,
  hearing,
  clock,
}: {
  partners: PartnerList;
  hearing: Pick<Hearing, 'read'>;
  clock: Clock;
}): Promise<Map<string, number | undefined>> {
  const expected = partners.all().filter(({ expectEvery }) => expectEvery !== undefined);
  if (expected.length === 0) return new Map();
  const heard = await hearing.read();
  const now = clock.now();
  return new Map(
    expected.map((partner) => [
      partner.id,
      silentSince(partner, heard.get(partner.id) ?? now, now),
    ]),
  );
}

const LOOK_EVERY_MS = 10 * SECOND;

/** Says in the log when a partner falls silent, and when it sends again: in the instance that works. */
export function createSilenceWatch({
  partners,
  hearing,
  clock,
  log,
}: {
  partners: () => PartnerList;
  hearing: Pick<Hearing, 'read' | 'keep'>;
  clock: Clock;
  log: Log;
}): Repeating {
  const said = new Set<string>();
  const look = async (): Promise<void> => {
    const list = partners();
    await hearing.keep(list.all());
    const silences = await readSilences({ partners: list, hearing, clock });
    for (const [partnerId, since] of silences) {
      if (since === undefined || said.has(partnerId)) continue;
      said.add(partnerId);
      log.warn({ partnerId, since: toRfc3339(since) }, 'a partner has fallen silent');
    }
    for (const partnerId of said) {
      if (silences.get(partnerId) !== undefined) continue;
      said.delete(partnerId);
      log.info({ partnerId }, 'a partner is not silent any more');
    }
  };
  const work = (): Promise<void> =>
    look().catch((error: unknown) =>
      log.warn(errorFields(error), 'whether partners are silent could not be told'),
    );
  return createRepeating(work, LOOK_EVERY_MS, clock);
}
