import type { KeyObject } from 'node:crypto';
import { toHashedIdentity } from '#leads/directory/lead-directory.ts';
import type { Name } from '../deletion.ts';
import type { MatchName } from './match.ts';

/** The names with keyed hashes in place of personal data, in the same order. */
export function toMatchNames(
  names: readonly Name[],
  directoryKey: Buffer | KeyObject,
): MatchName[] {
  return names.map((name) =>
    name.kind === 'lead-id' ? name : toHashedIdentity(directoryKey, name),
  );
}
