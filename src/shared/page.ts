import { TrackportError } from './errors.ts';
import { hmacSha256, sameDigest } from './hash.ts';

const MAC_BYTES = 16;
const CURSOR_CHARACTERS_MAX = 2048;

/** What every list answers: `nextCursor` is there exactly when `hasMore` is true. */
export type Pagination = { hasMore: boolean; nextCursor?: string };

/** Seals positions of a list into opaque cursors and opens them again. */
export type CursorSealer = {
  /**
   * `kind` names the list and its version (`leads/1`), `binding` all that the cursor must not be
   * used without (filters, grants, workspace); both are authenticated but not stored.
   */
  seal(kind: string, binding: string, position: unknown): string;
  /**
   * The position that was sealed with the same kind and binding. The caller still checks its shape.
   * @throws {invalid-cursor} when it was altered, truncated, or made for something else
   */
  open(kind: string, binding: string, cursor: string): unknown;
};

/** Cursors are base64url of a 16-byte truncated HMAC-SHA256 and the position as JSON. */
export function createCursorSealer(key: Buffer): CursorSealer {
  const macOf = (kind: string, binding: string, body: Buffer): Buffer =>
    hmacSha256(key, Buffer.concat([Buffer.from(JSON.stringify([kind, binding])), body])).subarray(
      0,
      MAC_BYTES,
    );
  return {
    seal: (kind, binding, position) => {
      const body = Buffer.from(JSON.stringify(position));
      return Buffer.concat([macOf(kind, binding, body), body]).toString('base64url');
    },
    open: (kind, binding, cursor) => {
      if (!/^[A-Za-z0-9_-]+$/.test(cursor) || cursor.length > CURSOR_CHARACTERS_MAX) refuseCursor();
      const bytes = Buffer.from(cursor, 'base64url');
      if (bytes.toString('base64url') !== cursor || bytes.length <= MAC_BYTES) refuseCursor();
      const body = bytes.subarray(MAC_BYTES);
      if (!sameDigest(bytes.subarray(0, MAC_BYTES), macOf(kind, binding, body))) refuseCursor();
      return JSON.parse(body.toString('utf8'));
    },
  };
}

/** @throws {invalid-cursor} always */
export function refuseCursor(): never {
  const detail =
    'The cursor was altered, belongs to other filters or another consumer, or comes from another version. Start again without `cursor`.';
  throw new TrackportError('invalid-cursor', {
    detail,
    errors: [{ parameter: 'cursor', code: 'invalid-cursor', detail }],
  });
}
