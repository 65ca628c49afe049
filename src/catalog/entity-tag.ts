import { TrackportError } from '#shared/errors.ts';
import { sha256 } from '#shared/hash.ts';
import type { Member } from './artifact.ts';

/** What a caller demands of the present state before a change (RFC 9110 §13.1.1). */
export type Precondition = { kind: 'any' } | { kind: 'tags'; tags: readonly string[] };

/** All that an answer with one version depends on. */
export type Tagged = {
  serial: number;
  revision: number;
  counts: Record<string, number>;
  members?: Member[];
};

/** The strong entity tag of a version's answer, quotes included. */
export function entityTagOf({ serial, revision, counts, members }: Tagged): string {
  const digest = sha256(JSON.stringify([serial, revision, counts, members]));
  return `"${digest.toString('base64url', 0, 16)}"`;
}

/** @throws {precondition-required} when `condition` is absent */
export function requireCondition(condition: Precondition | undefined): Precondition {
  if (condition === undefined)
    throw new TrackportError('precondition-required', {
      detail: 'Send `If-Match` with the `ETag` that your change is based on.',
      errors: [{ header: 'If-Match', code: 'required', detail: 'This call needs `If-Match`.' }],
    });
  return condition;
}

/** @throws {precondition-failed} when no tag equals the present one; weak tags never do */
export function requireTag(tags: readonly string[], current: Tagged): void {
  if (tags.includes(entityTagOf(current))) return;
  throw new TrackportError('precondition-failed', {
    detail: 'The version has changed since the `ETag` in `If-Match`. Read it again first.',
    errors: [
      { header: 'If-Match', code: 'stale', detail: 'No entity tag of `If-Match` is current.' },
    ],
  });
}
