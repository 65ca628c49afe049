import { toRfc3339 } from '#shared/clock.ts';
import type { Tx } from '#shared/database.ts';
import { type FieldProblem, refuse } from '#shared/errors.ts';
import type { VersionRecord, VersionRef, VersionView } from '../version/artifact.ts';
import { checkCondition, type Precondition } from '../version/entity-tag.ts';
import type { Caller, Catalog, Reader } from '../index.ts';
import {
  onlyVersionIn,
  readCandidates,
  readRecord,
  readVersion,
  refuseUnknown,
} from '../version/read-version.ts';
import { readView } from '../version/version-view.ts';
import { readersLately } from '../usage.ts';
import {
  appendChange,
  type ArtifactRow,
  lockArtifact,
  moveVersion,
  refreshListed,
  type StoredView,
  toStoredView,
} from '../version/store-version.ts';
import { isReadable } from '../version/version-order.ts';
import { isBeforeSunset, refuseTransition, transit, type Transition } from './transitions.ts';

/** The version that is meant, and the state that the caller saw it in. */
type Target = VersionRef & { ifMatch?: Precondition | undefined };

/**
 * Deprecates a version; a DEPRECATED one gets another `sunsetAt`. Without `version`: the version that a read
 * returns, when it is PUBLISHED.
 * @throws {validation-failed} for a sunset that is not in the future
 * @throws {artifact-not-found}
 * @throws {invalid-lifecycle-transition} with `current` and `allowed`
 * @throws {precondition-failed}
 */
export async function deprecateVersion(
  { db, clock }: Catalog,
  caller: Caller,
  { id, version, sunsetAt, ifMatch }: Target & { sunsetAt?: number | undefined },
): Promise<StoredView> {
  const now = clock.now();
  const problems = sunsetAt === undefined ? [] : sunsetProblems(sunsetAt, now);
  if (problems.length > 0) refuse(problems);
  return db.transaction(async (tx) => {
    const artifact = await lockArtifact(tx, caller, id);
    const named = version ?? (await publishedDefault(tx, caller, id));
    return move(
      tx,
      artifact,
      { caller, ref: { id, version: named }, ifMatch },
      { action: 'deprecate', now, sunsetAt },
    );
  });
}

async function publishedDefault(tx: Tx, { workspaceId }: Reader, id: string): Promise<string> {
  const found = await readVersion(tx, workspaceId, { id, withSpec: false });
  if (found.kind === 'no-default') return refuseTransition('deprecate', found.listed.lifecycle);
  if (found.kind !== 'found') return refuseUnknown(found.kind);
  const { version, lifecycle } = found.record;
  return lifecycle === 'PUBLISHED' ? version : refuseTransition('deprecate', lifecycle);
}

/**
 * Takes a deprecation back and forgets its sunset. Without `version`: the only DEPRECATED one.
 * @throws {validation-failed} where `version` is needed
 * @throws {artifact-not-found}
 * @throws {invalid-lifecycle-transition} with `current` and `allowed`
 * @throws {precondition-failed}
 */
export function reinstateVersion(
  catalog: Catalog,
  caller: Caller,
  target: Target,
): Promise<StoredView> {
  return moveDeprecated(catalog, caller, target, {
    action: 'reinstate',
    now: catalog.clock.now(),
  });
}

/**
 * Retires a version, for ever. Without `version`: the only DEPRECATED one.
 * @throws {validation-failed} where `version` is needed
 * @throws {artifact-not-found}
 * @throws {invalid-lifecycle-transition} with `current` and `allowed`
 * @throws {version-in-use} before the sunset, or when it was read lately, unless `isEarly`
 * @throws {precondition-failed}
 */
export async function retireVersion(
  catalog: Catalog,
  caller: Caller,
  { isEarly, ...target }: Target & { isEarly?: boolean },
): Promise<StoredView> {
  await catalog.usage.flush(); // a read of a moment ago counts
  const now = catalog.clock.now();
  return moveDeprecated(catalog, caller, target, { action: 'retire', now, isEarly });
}

/** Moves the version that is named, else the only DEPRECATED one. */
function moveDeprecated(
  { db }: Catalog,
  caller: Caller,
  { id, version, ifMatch }: Target,
  step: Transition,
): Promise<StoredView> {
  return db.transaction(async (tx) => {
    const artifact = await lockArtifact(tx, caller, id);
    const named = version ?? (await onlyVersionIn(tx, artifact, 'DEPRECATED'));
    return move(tx, artifact, { caller, ref: { id, version: named }, ifMatch }, step);
  });
}

/** Moves a version on, unless the move leaves it as it is. */
async function move(
  tx: Tx,
  artifact: ArtifactRow,
  {
    caller,
    ref,
    ifMatch,
  }: { caller: Caller; ref: Required<VersionRef>; ifMatch: Precondition | undefined },
  step: Transition,
): Promise<StoredView> {
  const { record, specText } = await readRecord(tx, caller, { ...ref, withSpec: true });
  const { action, now } = step;
  const readers = action === 'retire' ? await readersLately(tx, record, now) : [];
  const next = transit(record, { ...step, readers });
  checkCondition(record, ifMatch);
  if (next === record) return toStoredView(tx, caller, { record, specText });
  await moveVersion(tx, artifact, next);
  const isEarly = action === 'retire' && (isBeforeSunset(record, now) || readers.length > 0);
  const changes = { ...lifecycleChanges(record, next), ...(isEarly && { early: true }) };
  appendChange(tx, caller, next, { at: now, action, changes });
  return toStoredView(tx, caller, { record: next, specText });
}

/**
 * Makes a PUBLISHED or DEPRECATED version the one that a read without `version` returns. Nothing is done where it
 * is set already.
 * @throws {artifact-not-found}
 * @throws {invalid-lifecycle-transition}
 * @throws {precondition-failed}
 */
export async function setDefault(
  { db, clock }: Catalog,
  caller: Caller,
  { ifMatch, ...ref }: Required<VersionRef> & { ifMatch?: Precondition },
): Promise<StoredView> {
  return db.transaction(async (tx) => {
    const artifact = await lockArtifact(tx, caller, ref.id);
    const { record, specText } = await readRecord(tx, caller, { ...ref, withSpec: true });
    if (!isReadable(record)) refuseTransition('set-default', record.lifecycle);
    checkCondition(record, ifMatch);
    if (artifact.defaultSerial !== record.serial) {
      const versions = await readCandidates(tx, artifact.serial);
      refreshListed(tx, artifact, versions, record.serial);
      appendChange(tx, caller, record, { at: clock.now(), action: 'set-default' });
    }
    return toStoredView(tx, caller, { record, specText });
  });
}

/**
 * Forgets which version was set as default: from now on it is computed. Nothing is done where none was
 * set. `ifMatch` is of the version that was the default. Returns the version that is the default now.
 * @throws {artifact-not-found}
 * @throws {no-published-version}
 * @throws {precondition-failed}
 */
export async function unsetDefault(
  { db, clock }: Catalog,
  caller: Caller,
  { id, ifMatch }: { id: string; ifMatch?: Precondition },
): Promise<VersionView> {
  return db.transaction(async (tx) => {
    const artifact = await lockArtifact(tx, caller, id);
    const { record } = await readRecord(tx, caller, { id, withSpec: false });
    checkCondition(record, ifMatch);
    if (artifact.defaultSerial === record.serial) {
      refreshListed(tx, artifact, await readCandidates(tx, artifact.serial), null);
      appendChange(tx, caller, record, { at: clock.now(), action: 'unset-default' });
    }
    return readView(tx, caller, { id, withSpec: true });
  });
}

/** For the audit log. */
function lifecycleChanges(former: VersionRecord, next: VersionRecord): Record<string, unknown> {
  const { sunsetAt } = next;
  return {
    ...(former.lifecycle !== next.lifecycle && { lifecycle: next.lifecycle }),
    ...(former.sunsetAt !== next.sunsetAt && {
      sunsetAt: sunsetAt === undefined ? null : toRfc3339(sunsetAt),
    }),
  };
}

/** Problems of a sunset; none of one in the future. */
export function sunsetProblems(sunsetAt: number, now: number): FieldProblem[] {
  if (sunsetAt > now) return [];
  const detail = 'The sunset must be in the future.';
  return [{ parameter: 'sunset', code: 'out-of-range', detail }];
}
