/** Entity tags that a request names in `If-None-Match` or `If-Match`. */
import type { Precondition } from '#catalog/version/entity-tag.ts';

/**
 * True when `If-None-Match` names `etag`: weak comparison, lists and `*` (RFC 9110 §13.1.2).
 * A header that is no list of entity tags matches nothing.
 */
export function matchesNone(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header === etag || header.trim() === '*') return true;
  const opaque = opaqueOf(etag);
  return tagsIn(header).some((tag) => opaqueOf(tag) === opaque);
}

const opaqueOf = (tag: string): string => tag.replace(/^W\//, '');

function tagsIn(header: string): readonly string[] {
  return header.match(new RegExp(TAG, 'g')) ?? [];
}

const TAG = String.raw`(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"`;

/** A well-formed `If-Match`: `*`, or a list of entity tags, whose empty elements count for nothing (RFC 9110 §5.6.1). */
export const ENTITY_TAGS = new RegExp(String.raw`^(?:\*|[\t ,]*(?:${TAG}[\t ]*(?:,[\t ,]*|$))+)$`);

/** The precondition of an `If-Match` of this shape; undefined when the header is absent. */
export function parseIfMatch(header: string | undefined): Precondition | undefined {
  if (header === undefined) return undefined;
  if (header === '*') return { kind: 'any' };
  return { kind: 'tags', tags: tagsIn(header) };
}
