import { sha256 } from '#shared/crypto/hash.ts';

/** A strong validator over the exact bytes of a response (RFC 9110 §8.8.3). */
export function strongEtag(bytes: Buffer): string {
  return `"${sha256(bytes).subarray(0, 16).toString('base64url')}"`;
}

/**
 * True when `If-None-Match` names `etag`: weak comparison, lists and `*` (RFC 9110 §13.1.2).
 * A header that is no list of entity tags matches nothing.
 */
export function matchesNone(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header === etag) return true;
  if (header.trim() === '*') return true;
  const tags = header.match(/(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g) ?? [];
  return tags.some((tag) => tag.replace(/^W\//, '') === etag);
}
