/** Notes the changes that consumers were told of, beside their reads, and writes them now and then. */
import type { Clock } from '#shared/clock.ts';
import type { Tx } from '#shared/database.ts';
import type { Log } from '#shared/log.ts';
import { createLateWrites } from '#shared/resilience/late-writes.ts';
import { either } from '#shared/sql.ts';
import { type LeadStore, readRepositoryId } from '../lead-store.ts';
import type { Visibility } from '../model/lead-query.ts';
import { type FeedPosition, grantOf } from './feed-cursors.ts';
import { FEED_READABLE_MS } from './lead-change.ts';

/** From behind one position up to another everything was told; 0: from a copy of everything on. */
type Stretch = { behind: number; upTo: number; at: number };

type Reader = { consumerId: string; granted: string };
type Noted = Reader & { stretches: readonly Stretch[] };

export type FeedReads = {
  /** A reader that went on from `from` was given all up to `next`; without `from` it has a cursor for there. */
  note(visibility: Visibility, next: FeedPosition, from?: FeedPosition): void;
  /** Writes all that was noted before. */
  flush(): Promise<void>;
  close(): Promise<void>;
};

/** A consumer may follow the feed with several cursors. */
const STRETCHES_MAX = 8;
const CONSUMERS_MAX = 10_000;

/** Loses in a crash some reads that were made, and never claims one that was not. */
export function createFeedReads(store: LeadStore, clock: Clock, log: Log): FeedReads {
  const late = createLateWrites<string, Noted>({
    write: (noted) => writeAll(store, [...noted.values()]),
    merge: (older, newer) => ({ ...older, stretches: join(older.stretches, newer.stretches) }),
    keysMax: CONSUMERS_MAX,
    clock,
    log,
    failure: 'could not write how far consumers have read the lead feed',
  });
  return {
    note: ({ consumerId, labels }, next, from = next) => {
      const granted = grantOf(labels);
      const stretch = { ...stretchOf(from, next), at: clock.now() };
      late.record(`${consumerId} ${granted}`, { consumerId, granted, stretches: [stretch] });
    },
    flush: () => late.flush(),
    close: () => late.close(),
  };
}

/** Whoever walks through the lead list has all of it at its end, and nothing before. */
function stretchOf(from: FeedPosition, next: FeedPosition): Omit<Stretch, 'at'> {
  const upTo = wholeUpTo(next);
  if (next.walk !== undefined) return { behind: upTo, upTo };
  return { behind: from.walk === undefined ? Math.min(wholeUpTo(from), upTo) : 0, upTo };
}

/** Several leads can have changed at one position. */
function wholeUpTo({ place: [position, number] }: FeedPosition): number {
  return number === Number.MAX_SAFE_INTEGER ? position : position - 1;
}

/** Those that touch are one; of too many the first go. */
function join(older: readonly Stretch[], newer: readonly Stretch[]): Stretch[] {
  let joined = [...older];
  for (const one of newer) {
    const isTouching = ({ behind, upTo }: Stretch) => behind <= one.upTo && one.behind <= upTo;
    const all = [...joined.filter(isTouching), one];
    const behind = Math.min(...all.map((stretch) => stretch.behind));
    const upTo = Math.max(...all.map((stretch) => stretch.upTo));
    joined = [...joined.filter((stretch) => !isTouching(stretch)), { behind, upTo, at: one.at }];
  }
  return joined.slice(-STRETCHES_MAX);
}

async function writeAll({ db, repository }: LeadStore, noted: readonly Noted[]): Promise<void> {
  await db.exclusive(async (tx) => {
    const id = await readRepositoryId(tx, repository);
    if (id === undefined) return;
    for (const { stretches, ...reader } of noted)
      for (const stretch of stretches) await write(tx, { id, ...reader }, stretch);
  });
}

const OF_READER = 'consumer_id = @consumerId AND repository_id = @id AND granted = @granted';

const GIVEN = `
  INSERT INTO lead_feed_reader (consumer_id, position, read_at, granted, given_at)
  VALUES (@consumerId, @upTo, @at, @granted, @at)
  ON CONFLICT (consumer_id) DO UPDATE SET granted = @granted, given_at = @at`;

const GOES_ON_FROM = `
  SELECT behind, up_to, read_at AS at FROM lead_feed_stretch
  WHERE ${OF_READER} AND up_to >= @behind AND behind <= @behind ORDER BY up_to DESC LIMIT 1`;

const HAS_REMOVAL = `
  SELECT 1 FROM lead_change
  WHERE repository_id = @id AND position > @behind AND position <= @upTo AND NOT is_visible LIMIT 1`;

const PUT = `
  INSERT INTO lead_feed_stretch (consumer_id, repository_id, granted, up_to, behind, read_at)
  VALUES (@consumerId, @id, @granted, @upTo, @behind, @at)
  ON CONFLICT (consumer_id, repository_id, granted, up_to)
  DO UPDATE SET behind = ${either('least', 'min')}(lead_feed_stretch.behind, excluded.behind)`;

const DROP = `DELETE FROM lead_feed_stretch WHERE ${OF_READER} AND up_to = @upTo`;

const FORGET = `
  DELETE FROM lead_feed_stretch WHERE ${OF_READER} AND read_at < @at::bigint - ${FEED_READABLE_MS}`;

async function write(tx: Tx, reader: Reader & { id: number }, stretch: Stretch): Promise<void> {
  await tx.run(GIVEN, { ...reader, ...stretch });
  const before = await tx.get<Stretch>(GOES_ON_FROM, { ...reader, ...stretch });
  if (before && stretch.upTo <= before.upTo) return;
  const more = { ...stretch, behind: before?.upTo ?? stretch.behind };
  const hasRemoval = (await tx.get(HAS_REMOVAL, { ...reader, ...more })) !== undefined;
  if (before && !hasRemoval) {
    await tx.run(DROP, { ...reader, ...before });
    await tx.run(PUT, { ...reader, ...before, upTo: stretch.upTo });
    return;
  }
  await tx.run(FORGET, { ...reader, ...more });
  await tx.run(PUT, { ...reader, ...more });
}
