import { TrackportError } from '#shared/errors.ts';
import { sha256 } from '#shared/crypto/hash.ts';
import type { SpecFormat } from '../spec/spec-text.ts';
import type { VersionView } from './artifact.ts';

/** A caller's demand on the present state before a change (RFC 9110 §13.1.1). */
export type Precondition = { kind: 'any' } | { kind: 'tags'; tags: readonly string[] };

/** A version as it was written last. */
type Revision = { serial: number; revision: number };

/** The strong entity tag of a response with a version, quotes included: what was written, then the rest. */
export function entityTagOf({ record, counts, members }: VersionView): string {
  const { serial, revision } = record;
  return `"${digestOf([serial, revision])}${digestOf([counts, members])}"`;
}

/**
 * The strong entity tag of the spec of a version alone, quotes included. It is one for `If-Match`, too,
 * so that a spec can be read, edited and sent back.
 */
export function specTagOf({ serial, revision }: Revision, format: SpecFormat): string {
  return `"${digestOf([serial, revision])}${digestOf(['spec', format])}"`;
}

function digestOf(facts: readonly unknown[]): string {
  return sha256(JSON.stringify(facts)).toString('base64url', 0, 12);
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

/**
 * Holds a caller's condition against the version as it is now; an absent one always holds.
 * @throws {precondition-failed}
 */
export function checkCondition(current: Revision, condition: Precondition | undefined): void {
  if (condition?.kind === 'tags') requireTag(condition.tags, current);
}

/**
 * Looks at what was written alone: other versions and members change counts, and lose no update. The
 * comparison is strong (RFC 9110 §13.1.1): a weak tag never matches.
 * @throws {precondition-failed} when no tag is of the present revision
 */
function requireTag(tags: readonly string[], current: Revision): void {
  const present = `"${digestOf([current.serial, current.revision])}`;
  if (tags.some((tag) => tag.startsWith(present))) return;
  throw tags.some((tag) => tag.startsWith('W/')) ? weakTag() : staleTag();
}

function staleTag(): TrackportError {
  return new TrackportError('precondition-failed', {
    detail: 'The version has changed since the `ETag` in `If-Match`. Read it again first.',
    errors: [
      { header: 'If-Match', code: 'stale', detail: 'No entity tag of `If-Match` is current.' },
    ],
  });
}

function weakTag(): TrackportError {
  const detail =
    '`If-Match` names a weak entity tag, which never matches. Send the tag without `W/`: something between us, such as a proxy that compresses, puts that there.';
  return new TrackportError('precondition-failed', {
    detail,
    errors: [{ header: 'If-Match', code: 'weak', detail }],
  });
}
