import { type Content, foldId, isComputedCount } from '../version/artifact.ts';
import type { ExistingVersion } from './import-target.ts';

/** What an owner writes, in one fixed order: two drafts with the same text are the same. */
export function fingerprintOf(content: Content): string {
  const { members, counts } = content;
  return JSON.stringify([...plainOf(content), members, counts && sorted(counts)]);
}

/**
 * Whether a version has a draft's content, judged by what a response shows of it: computed counts stand
 * among the owner's, and of the members those with a default version, or for a GROUP those below it.
 */
export function matchOfShown(draft: Content, shown: Content): ExistingVersion['match'] {
  if (JSON.stringify(plainOf(draft)) !== JSON.stringify(plainOf(shown))) return 'different';
  const counts = [draft.counts, shown.counts].map((all = {}) =>
    JSON.stringify(sorted(all).filter(([name]) => !isComputedCount(name))),
  );
  if (counts[0] !== counts[1]) return 'different';
  return matchOfMembers(draft, shown.members);
}

/** Members that cannot be seen may be there beside those that can. */
function matchOfMembers(
  { type, members }: Content,
  shown: readonly string[] | undefined,
): ExistingVersion['match'] {
  if (members === undefined) {
    if (shown === undefined) return 'same';
    return type === 'GROUP' ? 'unsure' : 'different';
  }
  const rest = members.map(foldId);
  for (const id of shown ?? []) {
    const at = rest.indexOf(foldId(id));
    if (at < 0) return 'different';
    rest.splice(0, at + 1);
  }
  return 'unsure';
}

function plainOf(content: Content): unknown[] {
  const { type, owner, title, description, source, specText, projectId, groupPath } = content;
  return [type, owner, title, description, source, specText, projectId, groupPath];
}

function sorted(counts: Record<string, number>): [string, number][] {
  return Object.entries(counts).toSorted(([left], [right]) => (left < right ? -1 : 1));
}
