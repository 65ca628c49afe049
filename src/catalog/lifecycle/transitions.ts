import { toRfc3339 } from '#shared/clock.ts';
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

/** Instant of a sunset that was given as a day: its end, in UTC, until which people count on the version. */
export function sunsetOfDay(day: string): string {
  return `${day}T23:59:59Z`;
}

export type Transition = {
  action: LifecycleAction;
  now: number;
  sunsetAt?: number;
  /** With `retire`: also before the sunset that was announced, or while somebody reads it. */
  isEarly?: boolean;
  /** With `retire`: ids of those who read the version lately. */
  readers?: readonly string[];
};

/**
 * The version after an action, with its revision counted up; the same object when nothing changes.
 * Deprecating a DEPRECATED version moves `sunsetAt` when one is given. `reinstate` forgets the
 * deprecation and its sunset. `retire` waits for the sunset and for the last reader, unless it is told not to.
 * @throws {invalid-lifecycle-transition} with `current` and `allowed`
 * @throws {version-in-use} with `readers` as well
 */
export function transit(version: VersionRecord, transition: Transition): VersionRecord {
  const { action, now, sunsetAt } = transition;
  requireTransition(version, transition);
  const { to } = transitions[action];
  if (version.lifecycle === to && (sunsetAt === undefined || sunsetAt === version.sunsetAt))
    return version;
  const { deprecatedAt, sunsetAt: formerSunset, ...rest } = version;
  const next = { ...rest, lifecycle: to, updatedAt: now, revision: version.revision + 1 };
  if (action === 'publish') return { ...next, publishedAt: now };
  if (action === 'reinstate') return next;
  const sunset = action === 'deprecate' ? sunsetAt : formerSunset;
  return { ...next, deprecatedAt: deprecatedAt ?? now, sunsetAt: sunset };
}

/** @throws {invalid-lifecycle-transition} @throws {version-in-use} */
export function requireTransition(version: VersionRecord, transition: Transition): void {
  const { action, isEarly } = transition;
  const { lifecycle } = version;
  const isNewSunset = action === 'deprecate' && lifecycle === 'DEPRECATED';
  if (lifecycle !== transitions[action].from && !isNewSunset) refuseTransition(action, lifecycle);
  if (action === 'retire' && isEarly !== true) requireUnused(version, transition);
}

/** True while readers were told that they can rely on the version. */
export function isBeforeSunset({ sunsetAt }: VersionRecord, now: number): boolean {
  return sunsetAt !== undefined && sunsetAt > now;
}

function requireUnused(version: VersionRecord, { now, readers = [] }: Transition): void {
  const { lifecycle, sunsetAt = now } = version;
  const isAhead = isBeforeSunset(version, now);
  if (!isAhead && readers.length === 0) return;
  const ahead = `The sunset, ${toRfc3339(sunsetAt)}, lies ahead: move it with \`deprecate\`.`;
  const read = `It was read in the last 30 days: \`/usage\` tells by whom, when and how often.`;
  const why = [...(isAhead ? [ahead] : []), ...(readers.length > 0 ? [read] : [])].join(' ');
  const detail = `Readers rely on the version. ${why} \`early=true\` retires it all the same.`;
  throw new TrackportError('version-in-use', {
    detail,
    errors: [{ parameter: 'early', code: 'required', detail }],
    extensions: {
      current: lifecycle,
      allowed: allowedIn[lifecycle].filter((name) => name !== 'retire'),
      readers,
    },
  });
}

/** @throws {invalid-lifecycle-transition} always */
export function refuseTransition(action: string, current: Lifecycle): never {
  const allowed = allowedIn[current];
  throw new TrackportError('invalid-lifecycle-transition', {
    detail: refusalOf(action, current, allowed),
    extensions: { current, allowed },
  });
}

function refusalOf(action: string, current: Lifecycle, allowed: readonly string[]): string {
  if (allowed.includes(action))
    return `The default version is ${current}: name it with \`version\` to ${action} it.`;
  const next =
    allowed.length === 0 ? 'Nothing changes it any more.' : `Possible now: ${allowed.join(', ')}.`;
  return `"${action}" is not possible for a ${current} version. ${next}`;
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
