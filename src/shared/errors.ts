import type { problems } from './outcomes/problems.ts';

export type ErrorCode = keyof typeof problems;

/** One wrong part of a request. Exactly one of `pointer`, `parameter`, `header` says where. */
export type FieldProblem = {
  /** JSON Pointer into the body, as a URI fragment (`#/title`). */
  pointer?: string;
  /** Name of the path or query parameter. */
  parameter?: string;
  /** Name of the header. */
  header?: string;
  /** Stable and machine-readable, for example `out-of-range`. */
  code: string;
  /** Written for the caller: what is wrong and what to send instead. */
  detail: string;
};

/** A number of calls per minute, and the rest of it. */
export type RateLimit = {
  limitPerMinute: number;
  /** Calls left until the window ends, 0 or more. */
  remaining: number;
  /** Whole seconds until the window ends, 1 to 60. */
  resetSeconds: number;
};

export type ProblemOptions = {
  /** Public text: no internals, upstream bodies or personal data. */
  detail?: string;
  errors?: readonly FieldProblem[];
  /** Whole seconds until a new try makes sense; becomes `Retry-After`. */
  retryAfterSeconds?: number;
  /** The limit that is used up, on a 429. */
  limit?: RateLimit;
  /** Value of `WWW-Authenticate` on a 401 or 403. */
  challenge?: string;
  /** Further public members of the problem document, such as `current` and `allowed`. */
  extensions?: Record<string, unknown>;
  /** The internal reason. Logged by name only, never sent. */
  cause?: unknown;
};

/** An expected operational failure. Programmer mistakes throw plain `Error` or `TypeError`. */
export class TrackportError extends Error {
  readonly code: ErrorCode;
  readonly detail: string | undefined;
  readonly errors: readonly FieldProblem[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly limit: Readonly<RateLimit> | undefined;
  readonly challenge: string | undefined;
  readonly extensions: Readonly<Record<string, unknown>> | undefined;

  constructor(code: ErrorCode, options: ProblemOptions = {}) {
    super(
      options.detail ?? code,
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.name = 'TrackportError';
    this.code = code;
    this.detail = options.detail;
    this.errors = options.errors;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.limit = options.limit;
    this.challenge = options.challenge;
    this.extensions = options.extensions;
  }
}

/** True for a `TrackportError`, with the given code when one is named. Accepts anything. */
export function isTrackportError(value: unknown, code?: ErrorCode): value is TrackportError {
  return value instanceof TrackportError && (code === undefined || value.code === code);
}

/** The code that Node, the operating system or a driver gave an error, such as `ENOENT`. */
export function systemCodeOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/**
 * The error and its causes, the outermost first: five at most, for a chain may come round to itself. That of a
 * `SuppressedError` is the failure that came first.
 */
export function* causesOf(error: unknown): Generator<Error> {
  let at = error;
  for (let depth = 0; at instanceof Error && depth < 5; depth += 1) {
    yield at;
    at = at instanceof SuppressedError ? at.suppressed : at.cause;
  }
}

/** A 400 whose `errors` name each wrong part. */
export function validationFailed(errors: FieldProblem[]): TrackportError {
  const detail = errors.map((error) => error.detail).join(' ');
  return new TrackportError('validation-failed', { detail, errors });
}

/** @throws {validation-failed} always */
export function refuse(errors: FieldProblem[]): never {
  throw validationFailed(errors);
}
