import { toRfc3339 } from '#shared/clock.ts';
import { type FieldProblem, refuse, TrackportError } from '#shared/errors.ts';
import { judgePublish } from '../compatibility.ts';
import type { VersionRecord } from '../version/artifact.ts';
import type { VersionRef } from '../artifact-store.ts';
import {
  type Caller,
  type CatalogDeps,
  readView,
  refuseUnknown,
  type VersionView,
  viewOf,
} from '../version/version-view.ts';
import {
  accompany,
  changeVersion,
  checkCondition,
  onlyVersionIn,
  writeChange,
} from '../version/change-version.ts';
import { isReadable } from '../version/version-order.ts';
import type { Precondition } from '../version/entity-tag.ts';
import {
  isBeforeSunset,
  type LifecycleAction,
  startOf,
  refuseTransition,
  transit,
} from './lifecycle.ts';
import { FINDINGS_MAX } from '../spec/finding.ts';

export type LifecycleChange = VersionRef & {
  action: LifecycleAction;
  /** With `deprecate` only. In the future. */
  sunsetAt?: number;
  /** With `retire` only: also while the sunset lies ahead. */
  isEarly?: boolean;
  /** With `publish` only: also where breaking changes block. */
  acceptsBreaking?: boolean;
  ifMatch?: Precondition;
};

/**
 * Moves one version to another state. Without `version`: `deprecate` takes the version that a read
 * returns, when it is PUBLISHED; the others take the only version in the state that they start from.
 * @throws {validation-failed} for a sunset that is not in the future, and where `version` is needed
 * @throws {artifact-not-found}
 * @throws {invalid-lifecycle-transition} with `current` and `allowed`; also on `retire` before the sunset,
 * unless `isEarly`
 * @throws {precondition-failed}
 * @throws {spec-invalid} on publish, with the findings, unless they are configured to warn
 * @throws {breaking-change} on publish, with each, where they are configured to block, unless
 * `acceptsBreaking`
 */
export async function changeLifecycle(
  deps: CatalogDeps,
  caller: Caller,
  change: LifecycleChange,
): Promise<VersionView> {
  const { action, sunsetAt } = change;
  if (sunsetAt !== undefined) refuseIfAny(sunsetProblems(sunsetAt, deps.clock.now()));
  const ref = { id: change.id, version: await versionOf(deps, caller, change) };
  return changeVersion(deps, { caller, ref }, async (record) => {
    const now = deps.clock.now();
    const next = transit(record, { action, now, sunsetAt, isEarly: change.isEarly ?? false });
    checkCondition(record, change.ifMatch);
    if (action === 'publish') return publish(deps, caller, { change, record, next });
    if (next === record) return respondUnchanged(deps, caller, record);
    const early = action === 'retire' && isBeforeSunset(record, now) && { early: true };
    const changes = { ...changesOf(record, next), ...early };
    const beside = accompany(deps, caller, { action, changes });
    return writeChange(deps, caller, { former: record, next, beside });
  });
}

async function respondUnchanged(
  deps: CatalogDeps,
  caller: Caller,
  record: VersionRecord,
): Promise<VersionView | undefined> {
  const { workspaceId, call } = caller;
  const { id, version } = record;
  if (!call) return readView(deps, caller, { id, version, withSpec: true });
  const stored = await deps.store.respond(workspaceId, record, call);
  return stored && viewOf(stored);
}

type Publishing = { change: LifecycleChange; record: VersionRecord; next: VersionRecord };

async function publish(
  deps: CatalogDeps,
  caller: Caller,
  { change, record, next }: Publishing,
): Promise<VersionView | undefined> {
  requireValidSpec(deps, record);
  const acceptsBreaking = change.acceptsBreaking ?? false;
  const { findings, audit, requires } = await judgePublish(deps, caller, {
    record,
    acceptsBreaking,
  });
  const published = { ...next, findings: [...record.findings, ...findings] };
  const changes = { ...changesOf(record, next), ...audit };
  const beside = accompany(deps, caller, { action: 'publish', changes });
  return writeChange(deps, caller, { former: record, next: published, ...requires, beside });
}

/**
 * Makes a PUBLISHED or DEPRECATED version the one that a read without `version` returns.
 * @throws {artifact-not-found}
 * @throws {invalid-lifecycle-transition}
 * @throws {precondition-failed}
 */
export async function setDefault(
  deps: CatalogDeps,
  caller: Caller,
  { ifMatch, ...ref }: Required<VersionRef> & { ifMatch?: Precondition },
): Promise<VersionView> {
  return changeVersion(deps, { caller, ref }, async (record) => {
    if (!isReadable(record)) refuseTransition('set-default', record.lifecycle);
    checkCondition(record, ifMatch);
    const beside = accompany(deps, caller, { action: 'set-default' });
    const stored = await deps.store.setDefault(caller.workspaceId, record, beside);
    return stored && viewOf(stored);
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
  deps: CatalogDeps,
  caller: Caller,
  { id, ifMatch }: { id: string; ifMatch?: Precondition },
): Promise<VersionView> {
  const { store } = deps;
  return changeVersion(deps, { caller, ref: { id } }, async (record) => {
    checkCondition(record, ifMatch);
    const { isSetDefault } = await store.relations(caller.workspaceId, record);
    const { audit } = accompany(deps, caller, { action: 'unset-default' });
    const isDone = !isSetDefault || (await store.clearDefault(caller.workspaceId, record, audit));
    return isDone ? readView(deps, caller, { id, withSpec: true }) : undefined;
  });
}

async function versionOf(
  deps: CatalogDeps,
  caller: Caller,
  { id, version, action }: LifecycleChange,
): Promise<string> {
  if (version !== undefined) return version;
  if (action !== 'deprecate')
    return onlyVersionIn(deps, caller, { id, lifecycle: startOf(action) });
  const found = await deps.store.read(caller.workspaceId, { id }, { withSpec: false });
  const record = 'record' in found ? found.record : undefined;
  if (record?.lifecycle === 'PUBLISHED') return record.version;
  const current = record ?? ('listed' in found ? found.listed : undefined);
  return current ? refuseTransition(action, current.lifecycle) : refuseUnknown('no-artifact');
}

function requireValidSpec(deps: CatalogDeps, { findings }: VersionRecord): void {
  if (findings.length === 0 || deps.findings === 'warn') return;
  throw new TrackportError('spec-invalid', {
    detail: `The spec has ${countOf(findings.length)}. Replace the draft's spec, then publish.`,
    errors: findings,
  });
}

/** The last of too many findings only counts the rest. */
function countOf(findings: number): string {
  if (findings > FINDINGS_MAX) return `more than ${FINDINGS_MAX} findings`;
  return findings === 1 ? 'one finding' : `${findings} findings`;
}

function changesOf(former: VersionRecord, next: VersionRecord): Record<string, unknown> {
  const { sunsetAt } = next;
  return {
    ...(former.lifecycle !== next.lifecycle && { lifecycle: next.lifecycle }),
    ...(former.sunsetAt !== next.sunsetAt && {
      sunsetAt: sunsetAt === undefined ? null : toRfc3339(sunsetAt),
    }),
  };
}

/** What is wrong with a sunset. */
export function sunsetProblems(sunsetAt: number, now: number): FieldProblem[] {
  if (sunsetAt > now) return [];
  const detail = 'The sunset must be in the future.';
  return [{ parameter: 'sunset', code: 'out-of-range', detail }];
}

function refuseIfAny(problems: FieldProblem[]): void {
  if (problems.length > 0) refuse(problems);
}
