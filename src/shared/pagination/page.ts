import type { KeyObject } from 'node:crypto';
import { z } from 'zod';
import { TrackportError } from '../errors.ts';
import { hmacSha256, sameDigest } from '../crypto/hash.ts';

const MAC_BYTES = 16;
/** A cursor carries the filters: enough for any that fit into an address. */
export const CURSOR_CHARACTERS_MAX = 6144;

/** Stands in every list beside its `items`. */
export const paginationOut = z
  .object({
    hasMore: z.boolean(),
    nextCursor: z.string().optional().describe('There exactly when `hasMore` is true.'),
  })
  .meta({ id: 'Pagination' });

export type Pagination = z.infer<typeof paginationOut>;

export type Page<Item> = { items: Item[]; pagination: Pagination };

export function paginationOf(nextCursor: string | undefined): Pagination {
  return nextCursor === undefined ? { hasMore: false } : { hasMore: true, nextCursor };
}

/** Seals positions of a list into opaque cursors and opens them again. */
export type CursorSealer = {
  /**
   * `kind` names the list and its version (`leads/1`), `binding` all that the cursor must not be
   * used without (grants, workspace); both are authenticated but not stored.
   */
  seal(kind: string, binding: string, position: unknown): string;
  /**
   * The position that was sealed with the same kind and binding. The caller still checks its shape.
   * @throws {invalid-cursor} when it was altered, truncated, or made for something else
   */
  open(kind: string, binding: string, cursor: string): unknown;
};

/** Cursors are base64url of a 16-byte truncated HMAC-SHA256 and the position as JSON. */
export function createCursorSealer(key: KeyObject): CursorSealer {
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

/** True for a text in the form of a cursor, whoever sealed it, with which key, and for what. */
export function looksSealed(text: string): boolean {
  if (!/^[A-Za-z0-9_-]+$/.test(text) || text.length > CURSOR_CHARACTERS_MAX) return false;
  return String.fromCharCode(Buffer.from(text, 'base64url')[MAC_BYTES] ?? 0) === '[';
}

/** Names a list and its version (`leads/1`), and all that its cursors must not be used without. */
export type ListName = { kind: string; binding: string };

/** Start of a read: without a position the beginning of the list. */
type PageStart<Filter> = { filter: Filter; position?: unknown };

/**
 * The filter of a page and where it starts. A cursor carries the filter of its list, if that has one, so
 * that it can be used alone; one that is given beside it must be the same. Its members are called as their
 * parameters; an absent one is absent or undefined, and values are compared as JSON.
 * @throws {invalid-cursor} naming each parameter that differs, or as `open` does
 */
export function startPage<Filter extends object | undefined>(
  cursors: CursorSealer,
  { kind, binding }: ListName,
  { cursor, filter }: { cursor?: string; filter: Filter },
): PageStart<Filter> {
  if (cursor === undefined) return { filter };
  const opened = cursors.open(kind, binding, cursor);
  if (filter === undefined) return { filter, position: opened };
  if (!Array.isArray(opened) || opened.length !== 2) return refuseCursor();
  const [position, carried] = opened as [unknown, Filter & object];
  const made = new Map(Object.entries(carried));
  const differing = Object.entries(filter)
    .filter(
      ([name, value]) =>
        value !== undefined && JSON.stringify(value) !== JSON.stringify(made.get(name)),
    )
    .map(([name]) => name);
  return differing.length > 0 ? refuseFilter(differing) : { filter: carried, position };
}

/** The cursor to the page behind `position`, for `startPage`. */
export function sealPage(
  cursors: CursorSealer,
  { kind, binding }: ListName,
  { filter, position }: PageStart<object | undefined>,
): string {
  return cursors.seal(kind, binding, filter === undefined ? position : [position, filter]);
}

/** A row of a list, and where it stands in the list's order. */
export type Listed<Item, Position = number> = { item: Item; position: Position };

/** `limit` may change from page to page. */
export type PageRequest = { limit: number; cursor?: string };

/** The part of a list to read: up to `limit` rows, from behind the position `after` when it is given. */
export type PageRange<Position = number> = { limit: number; after?: Position };

/**
 * One page of a list: `read` is asked for one row more, which shows whether more follow.
 * @throws {invalid-cursor}, or as `read` does
 */
export async function readPage<Item, Position, Filter extends object | undefined>(
  cursors: CursorSealer,
  list: ListName & { position: z.ZodType<Position> },
  { filter: requested, limit, cursor }: PageRequest & { filter: Filter },
  read: (range: PageRange<Position> & { filter: Filter }) => Promise<Listed<Item, Position>[]>,
): Promise<Page<Item>> {
  const { filter, position } = startPage(cursors, list, { cursor, filter: requested });
  const after = list.position.optional().safeParse(position);
  if (!after.success) return refuseCursor();
  const rows = await read({ filter, limit: limit + 1, after: after.data });
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  const next = last && sealPage(cursors, list, { filter, position: last.position });
  return { items: page.map(({ item }) => item), pagination: paginationOf(next) };
}

function refuseFilter(names: readonly string[]): never {
  const errors = names.map((parameter) => ({
    parameter,
    code: 'differs',
    detail: `\`${parameter}\` is not what the cursor was made with: repeat that, or leave it out.`,
  }));
  const detail = errors.map((error) => error.detail).join(' ');
  throw new TrackportError('invalid-cursor', { detail, errors });
}

const NO_CURSOR =
  'The cursor was altered or cut short, belongs to another list or caller, or comes from another version. Start again without `cursor`.';

/** @throws {invalid-cursor} always */
export function refuseCursor(detail = NO_CURSOR): never {
  throw new TrackportError('invalid-cursor', {
    detail,
    errors: [{ parameter: 'cursor', code: 'invalid-cursor', detail }],
  });
}
