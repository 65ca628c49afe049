import type { TrackerCause } from '#shared/outcomes/tracker-causes.ts';
import { TrackportError } from '#shared/errors.ts';

/**
 * Kinds of failed requests to the tracker.
 *
 * - `timeout`: the deadline passed. `network`: no response, or it broke off.
 * - `limited`: a rate limit is in force; nothing was done.
 * - `unauthorized`: the credential is refused (401), also after it was renewed.
 * - `forbidden`: the credential may not do this (403), or the repository is blocked (451).
 * - `missing`: 404 or 410. `moved`: any redirect; it is never followed.
 * - `invalid`: another 4xx: the tracker understood and refused.
 * - `server`: 5xx. `nonsense`: a success that cannot be understood.
 * - `numbered-pages`: a list that goes on by page numbers alone, without a cursor.
 * - `version-retired`: the tracker does not take our version of its API any more.
 * - `repository-missing`, `issues-disabled`: found out by asking for the repository itself.
 */
export type TrackerFailureKind = TrackerCause;

export type TrackerFailureOptions = {
  /** HTTP status, when there was a response. */
  status?: number;
  /** Whole seconds until the tracker takes requests again. */
  retryAfterSeconds?: number;
  /** Code of the socket's error, such as `ECONNRESET`. */
  reason?: string;
  /** Names of parameters of the request that the refusal names. */
  refusedNames?: readonly string[];
};

/**
 * A request that failed. It never carries the tracker's message or body, nor its own: those hold
 * HTML pages, addresses and personal data.
 */
export class TrackerFailure extends Error {
  readonly kind: TrackerFailureKind;
  /** `kind`, for logs. */
  readonly code: TrackerFailureKind;
  readonly status: number | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly reason: string | undefined;
  readonly refusedNames: readonly string[];

  constructor(kind: TrackerFailureKind, options: TrackerFailureOptions = {}) {
    super(`the tracker call failed: ${kind}`);
    this.name = 'TrackerFailure';
    this.kind = kind;
    this.code = kind;
    this.status = options.status;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.reason = options.reason;
    this.refusedNames = options.refusedNames ?? [];
  }
}

/** True for a `TrackerFailure`, of the given kind when one is named. Accepts anything. */
export function isTrackerFailure(
  value: unknown,
  kind?: TrackerFailureKind,
): value is TrackerFailure {
  return value instanceof TrackerFailure && (kind === undefined || value.kind === kind);
}

const DETAILS = {
  nonsense: 'The issue tracker answered something that cannot be understood.',
  'numbered-pages':
    'The issue tracker pages its lists by number alone: its Link header has page=, and no cursor (after=). Numbers shift while a list is read, so leads would be missed. Tell the operator to run `trackport doctor`.',
};

/**
 * Translates a failed request for the layers above: `tracker-failed` for `nonsense` and
 * `numbered-pages`, `tracker-unavailable` for every other `TrackerFailure`. Other errors are bugs and pass unchanged.
 */
export function toTrackportError(error: unknown): unknown {
  if (!isTrackerFailure(error)) return error;
  if (error.kind === 'nonsense' || error.kind === 'numbered-pages')
    return new TrackportError('tracker-failed', { detail: DETAILS[error.kind], cause: error });
  return new TrackportError('tracker-unavailable', {
    detail: 'The issue tracker cannot be used right now. Try again later.',
    cause: error,
    retryAfterSeconds: error.retryAfterSeconds,
  });
}
