import type { Precondition } from '#catalog/version/entity-tag.ts';

const TAG = String.raw`(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"`;

/** What `If-Match` may be: `*`, or a list of entity tags. */
export const ENTITY_TAGS = new RegExp(String.raw`^(?:\*|${TAG}(?:\s*,\s*${TAG})*)$`);

/** What an `If-Match` of this shape demands; undefined when the header is absent. */
export function parseIfMatch(header: string | undefined): Precondition | undefined {
  if (header === undefined) return undefined;
  if (header === '*') return { kind: 'any' };
  return { kind: 'tags', tags: tagsIn(header) };
}

/**
 * True when `If-None-Match` names `etag`: weak comparison, lists and `*` (RFC 9110 §13.1.2).
 * A header that is no list of entity tags matches nothing.
 */
export function matchesNone(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header === etag || header.trim() === '*') return true;
  return tagsIn(header).some((tag) => tag.replace(/^W\//, '') === etag);
}

function tagsIn(header: string): readonly string[] {
  return header.match(new RegExp(TAG, 'g')) ?? [];
}
