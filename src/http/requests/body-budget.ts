/** Bodies up to this size are not counted, so that small requests pass whatever large ones do. */
const SMALL_BODY_BYTES_MAX = 64 * 1024;

/** What one body in flight holds. */
export type BodyHold = {
  /** Counts bytes that have come. False, and the whole body is let go, when there is no room. */
  add(bytes: number): boolean;
  /** Idempotent. */
  release(): void;
};

/** Bounds the memory of the bodies that are read or worked on at the same time. */
export type BodyBudget = {
  /** Whether a body of so many bytes would find room now. */
  hasRoomFor(bytes: number): boolean;
  hold(): BodyHold;
  /** Bytes of large bodies that are held now. */
  heldBytes(): number;
};

/** A body counts, with all of its bytes, from the moment it is no longer small. */
export function createBodyBudget(bytesMax: number): BodyBudget {
  let heldBytes = 0;
  const hold = (): BodyHold => {
    let come = 0;
    let counted = 0;
    const release = (): void => {
      heldBytes -= counted;
      counted = 0;
    };
    return {
      add: (bytes) => {
        come += bytes;
        if (come <= SMALL_BODY_BYTES_MAX) return true;
        const more = come - counted;
        if (heldBytes + more > bytesMax) {
          release();
          return false;
        }
        heldBytes += more;
        counted = come;
        return true;
      },
      release,
    };
  };
  return {
    hasRoomFor: (bytes) => bytes <= SMALL_BODY_BYTES_MAX || heldBytes + bytes <= bytesMax,
    hold,
    heldBytes: () => heldBytes,
  };
}
