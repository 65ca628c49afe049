import { DAY } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import { type CursorSealer, refuseCursor } from '#shared/pagination/page.ts';
import { foldLabels } from '../model/labels.ts';
import type { Visibility } from '../reading/prepared-query.ts';
import type { FeedPlace } from './feed-store.ts';

/** Where a reader goes on. */
export type FeedPosition = {
  /** Behind which change. */
  place: FeedPlace;
  /** Up to where removals were sent, beyond `place`: while the tracker fails they come alone. */
  removedUpTo?: FeedPlace;
  /** Which page of the lead list comes first; `''`: the first one. Changes come behind the last one. */
  walk?: string;
};

const KIND = 'lead-feed/1';
const GOOD_FOR_MS = 30 * DAY;

/** Cursors of the lead feed, each bound to its consumer. */
export type FeedCursors = {
  seal(position: FeedPosition, visibility: Visibility): string;
  /** @throws {invalid-cursor} @throws {cursor-expired} too old, or the grant has changed since */
  open(cursor: string, visibility: Visibility): FeedPosition;
};

export function createFeedCursors(
  cursors: CursorSealer,
  clock: { now: () => number },
): FeedCursors {
  return {
    seal: (position, { consumerId, labels }) =>
      cursors.seal(KIND, consumerId, [clock.now(), foldLabels(labels), position]),
    open: (cursor, { consumerId, labels }) => {
      const opened = cursors.open(KIND, consumerId, cursor);
      if (!Array.isArray(opened) || opened.length !== 3) return refuseCursor();
      const [sealedAt, granted, position] = opened as [number, string[], FeedPosition];
      if (clock.now() - sealedAt > GOOD_FOR_MS) return refuseExpired('is older than 30 days');
      if (granted.join('\n') !== foldLabels(labels).join('\n'))
        return refuseExpired('was made before what this key may read was changed');
      return position;
    },
  };
}

function refuseExpired(why: string): never {
  throw new TrackportError('cursor-expired', {
    detail: `The cursor ${why}. Empty your copy, and begin again with \`from=start\` and without \`cursor\`.`,
  });
}
