import type { Precondition } from '#catalog/entity-tag.ts';
import { refuse } from '#shared/errors.ts';

const TAG = String.raw`(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"`;
const TAG_LIST = new RegExp(String.raw`^\s*${TAG}(?:\s*,\s*${TAG})*\s*$`);

/**
 * What `If-Match` demands (RFC 9110 §13.1.1); undefined when the header is absent. Weak tags are
 * left out: the comparison is strong, so that they never match.
 * @throws {validation-failed} when it is neither `*` nor a list of entity tags
 */
export function parseIfMatch(header: string | undefined): Precondition | undefined {
  if (header === undefined) return undefined;
  if (header.trim() === '*') return { kind: 'any' };
  if (!TAG_LIST.test(header))
    refuse([
      {
        header: 'If-Match',
        code: 'invalid',
        detail: '`If-Match` is `*` or a list of entity tags in double quotes.',
      },
    ]);
  const tags = header.match(new RegExp(TAG, 'g')) ?? [];
  return { kind: 'tags', tags: tags.filter((tag) => !tag.startsWith('W/')) };
}
