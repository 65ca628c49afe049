import type { Precondition } from '#catalog/version/entity-tag.ts';

const TAG = String.raw`(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"`;

/** What `If-Match` may be: `*`, or a list of entity tags. */
export const ENTITY_TAGS = new RegExp(String.raw`^(?:\*|${TAG}(?:\s*,\s*${TAG})*)$`);

/** What an `If-Match` of this shape demands; undefined when the header is absent. */
export function parseIfMatch(header: string | undefined): Precondition | undefined {
  if (header === undefined) return undefined;
  if (header === '*') return { kind: 'any' };
  const tags = header.match(new RegExp(TAG, 'g')) ?? [];
  return { kind: 'tags', tags };
}
