import type { components } from './api.ts';

type Problem = components['schemas']['Problem'];

/** Details of an error that a caller can act on. */
export type ProblemDetails = {
  /** Of HTTP. */
  status: number;
  /** Names the problem for programs, as `lead-not-found` does; undefined where a proxy answered, and not Trackport. */
  code?: string | undefined;
  /** The problem and its remedy, for people. */
  detail?: string | undefined;
  /** Which parameters, headers or fields are wrong. */
  errors?: Problem['errors'] | undefined;
  /** Id to tell the operator of Trackport. */
  requestId?: string | undefined;
  /** Wait before the same is sent again, in ms. */
  retryAfterMs?: number | undefined;
};

/**
 * An answer that is no success.
 * @see RFC 9457
 */
export class ProblemError extends Error {
  override name = 'ProblemError';
  readonly status: number;
  readonly code: string | undefined;
  readonly detail: string | undefined;
  readonly errors: Problem['errors'] | undefined;
  readonly requestId: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, details: ProblemDetails) {
    super(message);
    this.status = details.status;
    this.code = details.code;
    this.detail = details.detail;
    this.errors = details.errors;
    this.requestId = details.requestId;
    this.retryAfterMs = details.retryAfterMs;
  }
}

/**
 * `cursor-expired` (410): the cursor is older than 30 days, or the grant has changed since. Empty the copy, and
 * begin again without a cursor and with `from: 'start'`.
 */
export class CursorExpiredError extends ProblemError {
  override name = 'CursorExpiredError';
}

/** The error of an answer; `body` is its parsed problem document, or whatever a proxy sent. */
function toProblemError({ status, headers }: Response, body: unknown): ProblemError {
  const { title, detail, code, errors } = isProblem(body) ? body : {};
  const message = [`${status} ${code ?? 'not an answer of Trackport'}`, detail ?? title];
  const facts = {
    status,
    code,
    detail,
    errors,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterMs: readRetryAfter(headers),
  };
  const Kind = code === 'cursor-expired' ? CursorExpiredError : ProblemError;
  return new Kind(message.filter(Boolean).join(': '), facts);
}

const isProblem = (body: unknown): body is Partial<Problem> =>
  typeof body === 'object' && body !== null && 'code' in body;

/** Of seconds or a date (RFC 9110 §10.2.3), in ms. */
export function readRetryAfter(headers: Headers): number | undefined {
  const text = headers.get('retry-after');
  if (text === null) return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

type Result<Data> = { data?: Data; error?: unknown; response: Response };

/**
 * The data of a typed call, as in `unwrap(await client.GET('/api/v1/me'))`.
 * @throws ProblemError for every answer that is no success
 */
export function unwrap<Data>({ data, error, response }: Result<Data>): NonNullable<Data> {
  if (!response.ok) throw toProblemError(response, error);
  return data as NonNullable<Data>;
}
