/** The meaning of a response of the tracker: a failure, a list that goes on, or data of a shape. */
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { HOUR, SECOND } from '#shared/clock.ts';
import { causesOf, systemCodeOf, TrackportError } from '#shared/errors.ts';
import { readBytes } from '#shared/bytes.ts';
import type { TrackerCause } from '#shared/outcomes/tracker-causes.ts';

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

type TrackerFailureOptions = {
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

/** A longer response is put together, decoded and parsed with a turn of the event loop for others between. */
const ONE_TURN_BYTES_MAX = 1024 * 1024;

/** The greatest response that is read: 100 issues of 65,536 characters, escaped, and room. */
const RESPONSE_BYTES_MAX = 64 * 1024 * 1024;

/** Of a response that is no success: its message, and room. */
const ERROR_BYTES_MAX = 64 * 1024;

/**
 * `fetch`, for Octokit, which reads a response that is no success by itself, to its end: here it ends where nothing
 * behind is of use.
 */
export const fetchBounded: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  const { status, statusText, headers, body } = response;
  if (status < 300 || body === null) return response;
  return new Response(await firstBytes(body), { status, statusText, headers });
};

/** As many as count. What breaks off or takes too long is as good as ended: the status has said all. */
async function firstBytes(body: AsyncIterable<Uint8Array>): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      bytes += chunk.byteLength;
      if (bytes >= ERROR_BYTES_MAX) break;
    }
  } catch {
    // With the headers the response was there.
  }
  return Buffer.from(Buffer.concat(chunks).subarray(0, ERROR_BYTES_MAX));
}

/** Response headers by lower-case name. */
export type Headers = Readonly<Record<string, string | number | undefined>>;

/** A response that Octokit throws: 304 and everything from 400 up. */
export type Rejection = { status: number; headers: Headers; data: unknown };

const octokitError = z.object({
  response: z.object({
    status: z.int(),
    headers: z.record(z.string(), z.union([z.string(), z.number()]).optional()),
    data: z.unknown(),
  }),
});

/** The response inside an error of Octokit; undefined when there was none. */
export function readRejection(error: unknown): Rejection | undefined {
  const parsed = octokitError.safeParse(error);
  if (!parsed.success) return undefined;
  const { status, headers, data } = parsed.data.response;
  return { status, headers, data };
}

/** A request without a response. Only codes are taken over: the error itself holds the request. */
export function transportFailure(error: unknown): TrackerFailure {
  const chain = [...causesOf(error)];
  if (chain.some(({ name }) => name === 'TimeoutError')) return new TrackerFailure('timeout');
  const reason = chain.map(systemCodeOf).find((code) => code !== undefined);
  return new TrackerFailure('network', { reason });
}

/** The failure of a response that is no success to a request with these `names`. Limits on 403 are recognized before. */
export function failureOf(
  { status, headers, data }: Rejection,
  now: number,
  names: readonly string[] = [],
): TrackerFailure {
  const wait = retryAfterMs(headers, now);
  return new TrackerFailure(kindOf(status), {
    status,
    ...(wait !== undefined && { retryAfterSeconds: Math.ceil(wait / SECOND) }),
    ...(status === 422 && { refusedNames: namesRefused(data, names) }),
  });
}

function kindOf(status: number): TrackerFailureKind {
  if (status >= 500) return 'server';
  const kinds: Record<number, TrackerFailureKind> = {
    304: 'nonsense',
    401: 'unauthorized',
    403: 'forbidden',
    404: 'missing',
    410: 'missing',
    429: 'limited',
    451: 'forbidden',
  };
  if (kinds[status]) return kinds[status];
  return status >= 400 ? 'invalid' : 'moved';
}

const RETRY_AFTER_MAX_MS = 24 * HOUR;

/** Milliseconds named by `Retry-After` (RFC 9110 §10.2.3), at most a day. */
export function retryAfterMs(headers: Headers, now: number): number | undefined {
  const text = headers['retry-after']?.toString().trim();
  if (text === undefined || text === '') return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * SECOND : Date.parse(text) - now;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, SECOND), RETRY_AFTER_MAX_MS);
}

/**
 * The whole text of a body; `''` for what is no stream.
 * @throws {TrackerFailure} `nonsense` when it is far too long
 */
export async function readText(body: unknown): Promise<string> {
  if (!(body instanceof ReadableStream)) return '';
  const bytes = await readBytes(body, RESPONSE_BYTES_MAX, () => new TrackerFailure('nonsense'));
  const isLong = bytes.length > ONE_TURN_BYTES_MAX;
  if (isLong) await nextTurn();
  const text = bytes.toString('utf8');
  if (isLong) await nextTurn();
  return text;
}

/** Behind the next look at sockets, before which one `setImmediate` comes. */
async function nextTurn(): Promise<void> {
  await setImmediate();
  await setImmediate();
}

/** `text` as JSON of the given shape; a 204 has no text. @throws {TrackerFailure} `nonsense` */
export function parseResponse<T>(text: string, schema: z.ZodType<T>, status: number): T {
  const parsed = schema.safeParse(status === 204 ? undefined : jsonOf(text));
  if (!parsed.success) throw new TrackerFailure('nonsense', { status });
  return parsed.data;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new TrackerFailure('nonsense');
  }
}

const refusal = z.object({
  message: z.string().catch(''),
  errors: z.array(z.object({ field: z.string() }).catch({ field: '' })).catch([]),
});

/** Those that a refusal names: as fields, or in a message of the schema, as in `"state" is not a permitted key`. */
function namesRefused(data: unknown, names: readonly string[]): string[] {
  const { message = '', errors = [] } = refusal.safeParse(data).data ?? {};
  return names.filter(
    (name) =>
      errors.some(({ field }) => field === name) ||
      message.includes(`"${name}"`) ||
      message.includes(`'properties/${name}'`),
  );
}

/**
 * True when the text of a 403 says that a rate limit was exceeded: secondary limits may have no
 * other sign.
 * @see https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api
 */
export function saysLimited({ data }: Rejection): boolean {
  return LIMIT_TEXT.test(refusal.safeParse(data).data?.message ?? '');
}

const LIMIT_TEXT = /secondary rate limit|rate limit exceeded|abuse detection/i;

const graphqlErrors = z.object({
  errors: z.array(z.object({ type: z.string().catch(''), message: z.string().catch('') })),
});

/** True where GraphQL says so, which it does in a success. @see https://docs.github.com/en/graphql */
export function graphqlSaysLimited(text: string): boolean {
  if (!text.includes('"errors"')) return false;
  const { errors = [] } = graphqlErrors.safeParse(jsonOf(text)).data ?? {};
  return errors.some(({ type, message }) => type === 'RATE_LIMITED' || LIMIT_TEXT.test(message));
}

/** Continuation of a list, as its `Link` header tells. */
type Continuation =
  | { kind: 'end' }
  | { kind: 'next'; after: string }
  /** There is a next page, but no cursor to ask for it. */
  | { kind: 'unusable' };

/**
 * The `after` cursor of the `rel="next"` target (RFC 8288). Nothing else of the target is used, so
 * that the credential never goes where a link points.
 */
export function continuationOf(link: string | number | undefined): Continuation {
  for (const [, target = '', parameters = ''] of link?.toString().matchAll(LINK) ?? []) {
    if (!isNext(parameters)) continue;
    const after = cursorOf(target);
    return after ? { kind: 'next', after } : { kind: 'unusable' };
  }
  return { kind: 'end' };
}

const LINK = /<([^<>]*)>([^<]*)/g;

function isNext(parameters: string): boolean {
  const [, quoted, bare] = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,]+))/i.exec(parameters) ?? [];
  return (quoted ?? bare ?? '').toLowerCase().split(/\s+/).includes('next');
}

function cursorOf(target: string): string | undefined {
  const query = target.trim().split('#')[0]?.split('?')[1] ?? '';
  return new URLSearchParams(query).get('after') ?? undefined;
}
