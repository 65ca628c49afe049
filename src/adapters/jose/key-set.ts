/**
 * The issuer's keys on a schedule of their own, so that neither an outage of the issuer nor a storm
 * of made-up key ids decides how often it gets a request: at most once in 30 s, whether it worked or not.
 */
import {
  createLocalJWKSet,
  type CryptoKey,
  errors,
  type JWK,
  type JWSHeaderParameters,
} from 'jose';
import type { IssuerStatus } from '#access/tokens.ts';
import { type Clock, HOUR, MINUTE, SECOND } from '#shared/clock.ts';
import { TrackportError } from '#shared/errors.ts';
import { errorFields, type Log } from '#shared/log.ts';
import { isLoopbackHost } from '#shared/text/address.ts';
import { createSingleFlight } from '#shared/resilience/single-flight.ts';
import { isRecord } from '#shared/text/json.ts';
import { readBytes } from '#shared/bytes.ts';

const FRESH_MS = 10 * MINUTE;
const ATTEMPT_EVERY_MS = 30 * SECOND;
const USABLE_MS = 24 * HOUR;
const DISCOVERY_TTL_MS = 24 * HOUR;
const FETCH_TIMEOUT_MS = 5 * SECOND;
const KEYS_MAX = 100;
const RESPONSE_BYTES_MAX = 512 * 1024;

/** The issuer as the source of keys. */
export type KeySource = {
  /** Exactly as tokens name it. */
  issuer: string;
  /** Address of the keys; default: that of the issuer's discovery document. */
  keySetUrl?: string;
  clock: Clock;
  log: Log;
  /** Real milliseconds for one request to the issuer, discovery included; default 5000. */
  timeoutMs?: number;
};

/** Keys to try, and the version of the set that they are of. */
type Candidates = { keys: CryptoKey[]; version: number };

export type KeySet = {
  /**
   * The keys that may have made a signature with this header: one, or several when it names no id.
   * @throws {identity-provider-unavailable} the issuer's keys are needed and cannot be had
   * @throws JOSEError no key fits
   */
  find(header: JWSHeaderParameters): Promise<Candidates>;
  /** Another number whenever the keys are others. */
  version(): number;
  status(): IssuerStatus;
  /** Gives up a request to the issuer that is under way. */
  close(): void;
};

type Keys = {
  version: number;
  text: string;
  count: number;
  /** Milliseconds since the Unix epoch, for people. */
  fetchedAt: number;
  /** Milliseconds of the monotonic clock. */
  fetchedMs: number;
  resolve: ReturnType<typeof createLocalJWKSet>;
};

type State = {
  keys: Keys | undefined;
  /** Begin of the last attempt, in milliseconds of the monotonic clock. */
  triedAt: number | undefined;
  failure: string | undefined;
  discovered: { url: string; at: number } | undefined;
};

export function createKeySet(source: KeySource): KeySet {
  const { clock } = source;
  const closed = new AbortController();
  const state = createState();
  const fetchKeys = createSingleFlight(() => attempt(source, state, closed.signal));
  /** Requests the keys unless that was done just now; an attempt under way is shared. */
  const refresh = (): Promise<void> => {
    const isTooSoon = !fetchKeys.isRunning() && msUntilAttempt(state, clock.monotonicMs()) > 0;
    return isTooSoon ? Promise.resolve() : fetchKeys();
  };
  return {
    find: async (header) => {
      if (!usableKeys(state, clock.monotonicMs())) await refresh();
      const keys = usableKeys(state, clock.monotonicMs());
      if (!keys) throw unavailable(state, clock.monotonicMs());
      if (clock.monotonicMs() - keys.fetchedMs >= FRESH_MS) void refresh();
      const found = await keysFor(keys, header);
      if (found) return found;
      await refresh();
      return findAgain(state, header, clock.monotonicMs());
    },
    version: () => state.keys?.version ?? 0,
    status: () => {
      // Nobody may need a key for hours: the end of the failure is to be noticed all the same.
      if (state.failure !== undefined) void refresh();
      return statusOf(state, clock.monotonicMs());
    },
    close: () => closed.abort(),
  };
}

/** One request to the issuer as the key set makes it, for people who want to know whether it works. */
export async function inspectIssuer(source: KeySource): Promise<IssuerStatus> {
  const state = createState();
  await attempt(source, state, new AbortController().signal);
  return statusOf(state, source.clock.monotonicMs());
}

function createState(): State {
  return {
    keys: undefined,
    triedAt: undefined,
    failure: undefined,
    discovered: undefined,
  };
}

function msUntilAttempt({ triedAt }: State, now: number): number {
  return triedAt === undefined ? 0 : Math.max(0, triedAt + ATTEMPT_EVERY_MS - now);
}

function usableKeys({ keys }: State, now: number): Keys | undefined {
  return keys && now - keys.fetchedMs < USABLE_MS ? keys : undefined;
}

/** The second look, after the keys were fetched again or could not be fetched again yet. */
async function findAgain(
  state: State,
  header: JWSHeaderParameters,
  now: number,
): Promise<Candidates> {
  const found = state.keys && (await keysFor(state.keys, header));
  if (found) return found;
  // While the issuer fails, a key that it made since looks like one that it never made.
  if (state.failure !== undefined) throw unavailable(state, now);
  throw new errors.JWKSNoMatchingKey();
}

async function keysFor(
  { resolve, version }: Keys,
  header: JWSHeaderParameters,
): Promise<Candidates | undefined> {
  try {
    return { keys: [await resolve(header)], version };
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return undefined;
    if (error instanceof errors.JWKSMultipleMatchingKeys)
      return { keys: await collect(error), version };
    throw error;
  }
}

async function collect(keys: AsyncIterable<CryptoKey>): Promise<CryptoKey[]> {
  const collected: CryptoKey[] = [];
  for await (const key of keys) collected.push(key);
  return collected;
}

/** Never fails: what went wrong stays in the state, and the last good keys stay too. */
async function attempt(source: KeySource, state: State, closed: AbortSignal): Promise<void> {
  const { clock, log, timeoutMs = FETCH_TIMEOUT_MS } = source;
  state.triedAt = clock.monotonicMs();
  const signal = AbortSignal.any([closed, AbortSignal.timeout(timeoutMs)]);
  try {
    const url = await keySetUrlOf(source, state, signal);
    replaceKeys(state, await fetchJson(url, signal), clock);
    if (state.failure !== undefined) log.info({}, 'the issuer gives keys again');
    state.failure = undefined;
  } catch (error) {
    if (closed.aborted) return;
    state.discovered = undefined; // it may have moved
    state.failure = error instanceof IssuerFailure ? error.message : 'Its keys cannot be used.';
    log.warn({ reason: state.failure, ...errorFields(error) }, 'the issuer gave no keys');
  }
}

async function keySetUrlOf(source: KeySource, state: State, signal: AbortSignal): Promise<string> {
  if (source.keySetUrl !== undefined) return source.keySetUrl;
  const now = source.clock.monotonicMs();
  if (!state.discovered || now - state.discovered.at >= DISCOVERY_TTL_MS)
    state.discovered = { url: await discoverKeySetUrl(source.issuer, signal), at: now };
  return state.discovered.url;
}

/** @throws {IssuerFailure} and then the keys stay as they were */
function replaceKeys(state: State, document: unknown, clock: Clock): void {
  const keys = keysIn(document);
  const count = keys.length;
  // An issuer without a key cannot have made a token: this is a fault of its own.
  if (count === 0 || count > KEYS_MAX)
    throw new IssuerFailure(`Its key set holds ${count} keys in place of 1 to ${KEYS_MAX}.`);
  const text = JSON.stringify(keys);
  const fetched = { fetchedAt: clock.now(), fetchedMs: clock.monotonicMs() };
  if (state.keys?.text === text) {
    Object.assign(state.keys, fetched);
    return;
  }
  const version = (state.keys?.version ?? 0) + 1;
  state.keys = { version, text, count, resolve: createLocalJWKSet({ keys }), ...fetched };
}

/** Ignores elements that are no key at all; one of a kind that nobody here knows does no harm (RFC 7517 §5). */
function keysIn(document: unknown): JWK[] {
  const keys = isRecord(document) ? document['keys'] : undefined;
  if (!Array.isArray(keys)) throw new IssuerFailure('Its key set is malformed.');
  return keys.filter((key): key is JWK => isRecord(key));
}

function unavailable(state: State, now: number): TrackportError {
  return new TrackportError('identity-provider-unavailable', {
    detail: 'The identity provider gives no keys, so the access token cannot be checked now.',
    retryAfterSeconds: Math.max(1, Math.ceil(msUntilAttempt(state, now) / SECOND)),
  });
}

function statusOf(state: State, now: number): IssuerStatus {
  const keys = usableKeys(state, now);
  const failed = keys ? 'failing' : 'unavailable';
  const worked = keys ? 'ok' : 'unknown';
  return {
    state: state.failure === undefined ? worked : failed,
    keys: keys?.count ?? 0,
    fetchedAt: keys?.fetchedAt,
    failure: state.failure,
  };
}

/**
 * The address of the issuer's key set (OpenID Connect Discovery 1.0 §4). Of the document only `jwks_uri` is used, and only
 * when it names the very issuer that the request went to.
 * @throws {IssuerFailure}
 */
async function discoverKeySetUrl(issuer: string, signal: AbortSignal): Promise<string> {
  const base = issuer.endsWith('/') ? issuer.slice(0, -1) : issuer;
  const document = await fetchJson(`${base}/.well-known/openid-configuration`, signal);
  if (!isRecord(document)) throw new IssuerFailure('Its discovery document is not an object.');
  if (document['issuer'] !== issuer)
    throw new IssuerFailure('Its discovery document names another issuer.');
  const url = document['jwks_uri'];
  if (typeof url !== 'string' || !isTrustworthy(url))
    throw new IssuerFailure('Its discovery document names no key set at an https address.');
  return url;
}

/** Keys that came over a network in plain text could be anybody's; loopback is no network. */
function isTrustworthy(text: string): boolean {
  const url = URL.parse(text);
  if (!url || url.username !== '' || url.password !== '') return false;
  if (url.protocol === 'https:') return true;
  return url.protocol === 'http:' && isLoopbackHost(url.hostname);
}

/** Failure of the issuer, in words for an operator; it never holds the response. */
class IssuerFailure extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'IssuerFailure';
  }
}

/**
 * The JSON of the issuer's response, which must be a 200, at most 512 KiB of it. Redirects are not followed.
 * @throws {IssuerFailure}
 */
export async function fetchJson(url: string, signal: AbortSignal): Promise<unknown> {
  try {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { accept: 'application/json' },
      signal,
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new IssuerFailure(`It answered ${response.status} in place of 200.`);
    }
    const tooLarge = (): Error => new IssuerFailure('Its answer is too large.');
    const bytes = await readBytes(response.body, RESPONSE_BYTES_MAX, tooLarge);
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw toFailure(error, signal);
  }
}

function toFailure(error: unknown, signal: AbortSignal): IssuerFailure {
  if (error instanceof IssuerFailure) return error;
  if (signal.aborted) return new IssuerFailure('It did not answer in time.', { cause: error });
  if (error instanceof SyntaxError)
    return new IssuerFailure('Its answer is not JSON.', { cause: error });
  return new IssuerFailure('It cannot be reached.', { cause: error });
}
