import pg from 'pg';
import { causesOf, isTrackportError, systemCodeOf } from '#shared/errors.ts';
import { BUSY, unavailable } from '#shared/database.ts';

/** Prepared statements are gone, or are somebody else's: a pooler gave the connection to others. */
const SHARED = 'The connection to the store is shared with others.';

const UNREACHABLE = 'The store cannot be reached.';

/** The driver's message, without a code, for a server that answers the request for TLS in plain. */
const SAYS_NO_TLS = 'The server does not support SSL connections';

/** Node's refusals of a certificate, by the beginning of their codes. */
const ofCertificate: readonly [code: RegExp, detail: string][] = [
  [/^ERR_TLS_CERT_ALTNAME/, 'The certificate of the store is for another host.'],
  [
    /^CERT_(?:HAS_EXPIRED|NOT_YET_VALID)/,
    'The certificate of the store is not valid at this time.',
  ],
  [/^(?:UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|CERT_)/, 'The certificate of the store is not trusted.'],
];

const TOOK_TOO_LONG = 'The store is shutting down or took too long.';

/**
 * Detail for callers about each kind of failure: no host, no statement, no value. By SQLSTATE,
 * or by its class, the first two characters.
 * @see https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const publicDetail: Record<string, string> = {
  '08': UNREACHABLE,
  '25006': 'The store cannot be written.',
  '25P03': TOOK_TOO_LONG,
  '25P04': TOOK_TOO_LONG,
  '26000': SHARED,
  '28': 'The store refuses the user or its password.',
  '3D000': 'The store has no such database.',
  '3F000': 'The store has no such schema.',
  '40': BUSY,
  '42P01': 'The store has no table of Trackport in its search_path.',
  '42P05': SHARED,
  '42501': 'The store refuses this to its user.',
  '53': 'The store has no resources left.',
  '53100': 'The store has no space left.',
  '55P03': BUSY,
  '57': TOOK_TOO_LONG,
  '58': 'The store cannot be read or written.',
  XX: 'The store is damaged.',
};

/**
 * Runs a call of the driver and translates what PostgreSQL or the connection to it report about the
 * store itself (gone, busy, full, read-only, too slow). Constraint violations and programmer mistakes
 * pass unchanged.
 * @throws {store-unavailable}
 */
export async function guard<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw translate(error);
  }
}

/** The `TrackportError` for a failure of the store, else `error` itself. */
function translate(error: unknown): unknown {
  if (isTrackportError(error)) return error;
  const code = codeOf(error);
  const detail =
    code === undefined
      ? reachability(error)
      : (publicDetail[code] ?? publicDetail[code.slice(0, 2)]);
  return detail === undefined ? error : unavailable(detail, error);
}

/** All that the driver throws by itself is about a connection, or that there is none to be had. */
function reachability(error: unknown): string | undefined {
  const isMistake = error instanceof TypeError || error instanceof RangeError;
  if (isMistake) return undefined;
  const [first] = causesOf(error);
  if (first?.message === SAYS_NO_TLS) return 'The store speaks no TLS.';
  const code = systemCodeOf(error) ?? '';
  return ofCertificate.find(([pattern]) => pattern.test(code))?.[1] ?? UNREACHABLE;
}

/** The SQLSTATE of what the server reported. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}

/** True when two transactions stood in each other's way: the same work may succeed at once. */
export function isRetryable(error: unknown): boolean {
  const code = isTrackportError(error) ? codeOf(error.cause) : undefined;
  return code === '40001' || code === '40P01';
}

/** True when the connection is of no use any more, or may not be. */
export function isConnectionLost(error: unknown): boolean {
  if (!isTrackportError(error, 'store-unavailable')) return false;
  const code = codeOf(error.cause);
  return code === undefined || /^(?:08|57P0[1-5]|25006|25P0[34]|26000|42P0[15])/.test(code);
}
