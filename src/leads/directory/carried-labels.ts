import type { DirectoryEntry } from './lead-directory.ts';

/** A lead that has had so many labels gets no more of them into its history. */
export const CARRIED_LABELS_MAX = 1000;

/** By what labels the issue could be read. */
export function carriedOf({ isApproved, labels, carried }: DirectoryEntry): readonly string[] {
  return carried ?? (isApproved ? labels : []);
}
