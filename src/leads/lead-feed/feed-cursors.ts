import { sha256 } from '#shared/crypto/hash.ts';
import { isTrackportError, TrackportError } from '#shared/errors.ts';
import { type CursorSealer, looksSealed, refuseCursor } from '#shared/pagination/page.ts';
import { foldLabels } from '#shared/text/labels.ts';
import type { Visibility } from '../model/lead-query.ts';
import { FEED_READABLE_MS } from './lead-change.ts';
import type { FeedPlace } from './stored-changes.ts';

/** A lead's place in the list, newest first. `createdAt` is ms since the Unix epoch. */
export type ListPlace = readonly [createdAt: number, number: number];

/** The place where a reader goes on. */
export type FeedPosition = {
  /** The change that it has read last. */
  place: FeedPlace;
  /**
   * Start of the reader's catching up since it was last at the end. A lead that left it on the way may have changed
   * for others and stand further on.
   */
  since?: FeedPlace;
  /** The last removal that was sent, beyond `place`: while the tracker fails they come alone. */
  removedUpTo?: FeedPlace;
  /** Cursor of the page of the lead list that comes next; `''`: the first one. Changes come behind the last one. */
  walk?: string;
  /** The lead of that page, or of one behind it, that it has last: its reader hung up within the page. */
  walkedTo?: ListPlace;
  /** Changes behind `place` that tell nothing but what the list has shown. */
  shown?: readonly FeedPlace[];
  /** The era of which it is a place, as `readEra` tells. */
  era?: number | undefined;
};

const KIND = 'lead-feed/1';

/** Cursors of the lead feed, each bound to its consumer. */
export type FeedCursors = {
  seal(position: FeedPosition, visibility: Visibility): string;
  /** @throws {invalid-cursor} it is none @throws {cursor-expired} nobody may go on from there, or nobody can */
  open(cursor: string, visibility: Visibility): FeedPosition;
};

export function createFeedCursors(
  cursors: CursorSealer,
  clock: { now: () => number },
): FeedCursors {
  return {
    seal: (position, { consumerId, labels }) =>
      cursors.seal(KIND, consumerId, [clock.now(), grantOf(labels), position]),
    open: (cursor, { consumerId, labels }) => {
      const opened = openOrUndefined(cursors, cursor, consumerId);
      if (!isSealed(opened))
        return looksSealed(cursor) ? refuseExpired(NOT_OURS) : refuseCursor(NO_CURSOR);
      const [sealedAt, granted, position] = opened;
      if (clock.now() - sealedAt > FEED_READABLE_MS) return refuseExpired('is older than 30 days');
      if (granted !== grantOf(labels))
        return refuseExpired('was made before what this key may read was changed');
      return position;
    },
  };
}

type Sealed = [sealedAt: number, granted: string, position: FeedPosition];

/** A digest, since the labels themselves can be longer than a cursor may be. */
export function grantOf(labels: readonly string[]): string {
  return sha256(JSON.stringify(foldLabels(labels))).toString('base64url');
}

const BEGIN_AGAIN = 'Empty your copy, and begin again with `from=start` and without `cursor`.';
/** Without both the feed would begin now, and the copy lack all before. */
const NO_CURSOR = `This is no cursor of the lead feed. ${BEGIN_AGAIN}`;
const NOT_OURS = 'was made for another consumer, or cannot be read any more';

function isSealed(opened: unknown): opened is Sealed {
  return Array.isArray(opened) && opened.length === 3;
}

function openOrUndefined(cursors: CursorSealer, cursor: string, consumerId: string): unknown {
  try {
    return cursors.open(KIND, consumerId, cursor);
  } catch (error) {
    if (!isTrackportError(error, 'invalid-cursor')) throw error;
    return undefined;
  }
}

/** @throws {cursor-expired} the era in which the reader was told is over */
export function refuseOtherEra(position: FeedPosition, era: number | undefined): void {
  if (position.era !== era)
    refuseExpired('was made before the store was restored, or for another repository');
}

function refuseExpired(why: string): never {
  throw new TrackportError('cursor-expired', {
    detail: `The cursor ${why}. ${BEGIN_AGAIN}`,
  });
}
