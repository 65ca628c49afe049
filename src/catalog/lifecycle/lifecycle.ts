import { TrackportError } from '#shared/errors.ts';
import type { Lifecycle, VersionRecord } from '../version/artifact.ts';

/**
 * (none) ─create→ DRAFT ─publish→ PUBLISHED ─deprecate→ DEPRECATED ─retire→ RETIRED
 *                  │ replace, delete  ↑──────reinstate──────│
 */
export type LifecycleAction = 'publish' | 'deprecate' | 'reinstate' | 'retire';

const transitions = {
  publish: { from: 'DRAFT', to: 'PUBLISHED' },
  deprecate: { from: 'PUBLISHED', to: 'DEPRECATED' },
  reinstate: { from: 'DEPRECATED', to: 'PUBLISHED' },
  retire: { from: 'DEPRECATED', to: 'RETIRED' },
} as const satisfies Record<LifecycleAction, { from: Lifecycle; to: Lifecycle }>;

const allowedIn: Record<Lifecycle, readonly string[]> = {
  DRAFT: ['publish', 'replace', 'edit', 'delete'],
  PUBLISHED: ['deprecate', 'edit'],
  DEPRECATED: ['deprecate', 'reinstate', 'retire', 'edit'],
  RETIRED: [],
};

/** When a sunset is that was given as a day: who reads a day counts on the version until its end, in UTC. */
export function sunsetOfDay(day: string): string {
  return `${day}T23:59:59Z`;
}

/** The state that an action starts from. */
export function originOf(action: LifecycleAction): Lifecycle {
  return transitions[action].from;
}

export type Transition = { action: LifecycleAction; now: number; sunsetAt?: number };

/**
 * The version after an action, with its revision counted up; the same object when nothing changes.
 * Deprecating a DEPRECATED version moves `sunsetAt` when one is given. `reinstate` forgets the
 * deprecation and its sunset.
 * @throws {invalid-lifecycle-transition} with `current` and `allowed`
 */
export function transit(
  version: VersionRecord,
  { action, now, sunsetAt }: Transition,
): VersionRecord {
  const { from, to } = transitions[action];
  const isNewSunset = action === 'deprecate' && version.lifecycle === 'DEPRECATED';
  if (version.lifecycle !== from && !isNewSunset) refuseTransition(action, version.lifecycle);
  if (isNewSunset && (sunsetAt === undefined || sunsetAt === version.sunsetAt)) return version;
  const { deprecatedAt, sunsetAt: formerSunset, ...rest } = version;
  const next = { ...rest, lifecycle: to, updatedAt: now, revision: version.revision + 1 };
  if (action === 'publish') return { ...next, publishedAt: now };
  if (action === 'reinstate') return next;
  const sunset = action === 'deprecate' ? sunsetAt : formerSunset;
  return {
    ...next,
    deprecatedAt: deprecatedAt ?? now,
    ...(sunset !== undefined && { sunsetAt: sunset }),
  };
}

/** @throws {invalid-lifecycle-transition} always */
export function refuseTransition(action: string, current: Lifecycle): never {
  const allowed = allowedIn[current];
  throw new TrackportError('invalid-lifecycle-transition', {
    detail: `"${action}" is not possible for a ${current} version. ${
      allowed.length === 0 ? 'Nothing changes it any more.' : `Possible now: ${allowed.join(', ')}.`
    }`,
    extensions: { current, allowed },
  });
}

/**
 * Replacing and deleting are for drafts.
 * @throws {not-a-draft} with `current` and `allowed`
 */
export function requireDraft(version: { lifecycle: Lifecycle }): void {
  if (version.lifecycle === 'DRAFT') return;
  throw new TrackportError('not-a-draft', {
    detail: `The version is ${version.lifecycle}: its content is frozen. Create a new version instead.`,
    extensions: { current: version.lifecycle, allowed: allowedIn[version.lifecycle] },
  });
}

/** Editing is for every state but RETIRED. @throws {invalid-lifecycle-transition} */
export function requireEditable(version: { lifecycle: Lifecycle }): void {
  if (version.lifecycle === 'RETIRED') refuseTransition('edit', version.lifecycle);
}
