/**
 * Access tokens as JWTs (RFC 9068, and the looser ones of issuers that do not follow it), checked
 * by an allow-list of algorithms and by keys of the issuer alone (RFC 8725).
 */
import {
  type CryptoKey,
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  jwtVerify,
  type JWTVerifyOptions,
} from 'jose';
import { LRUCache } from 'lru-cache';
import { isWorkspace } from '#access/grant.ts';
import {
  parseScopes,
  refusedClaim,
  refusedToken,
  type TokenPrincipal,
  type TokenVerifier,
} from '#access/tokens.ts';
import { atMostEntries } from '#shared/caching.ts';
import { type Clock, MINUTE, SECOND } from '#shared/clock.ts';
import { isTrackportError } from '#shared/errors.ts';
import { sha256Hex } from '#shared/crypto/hash.ts';
import { isPlainLine } from '#shared/text/visible.ts';
import type { KeySet } from './key-set.ts';

const REMEMBERED_MAX = 10_000;
const REMEMBERED_MS = MINUTE;

/** Rules that a good token keeps. */
export type TokenRules = {
  issuer: string;
  audience: string;
  /** Names of signature algorithms (RFC 7518 §3.1, RFC 8037 §3.1); no other is accepted. */
  algorithms: readonly string[];
  /** `at+jwt`: only tokens of RFC 9068. `any`: also those typed `JWT`, or not at all. */
  tokenType: 'any' | 'at+jwt';
  /** Name of the token claim with the scopes: text or an array. */
  scopeClaim: string;
  /** Name of the token claim with the workspace; tokens without it are of `default`. */
  workspaceClaim: string;
  /** Difference to the issuer's clock that is tolerated, in milliseconds. */
  clockToleranceMs: number;
};

type Validation = {
  keySet: KeySet;
  rules: TokenRules;
  clock: Clock;
};

type Remembered = {
  principal: TokenPrincipal;
  /** End of the token, in milliseconds since the Unix epoch. */
  expiresAt: number;
  /** In milliseconds of the monotonic clock. */
  checkedAt: number;
  /** Of the keys that it was checked with. */
  version: number;
};

/**
 * Remembers good tokens by their digest until they expire, at most a minute and 10,000 of them,
 * and only while the issuer's keys stay the same.
 */
export function createTokenVerifier(validation: Validation): TokenVerifier {
  const { keySet, clock } = validation;
  const remembered = new LRUCache<string, Remembered>(atMostEntries(REMEMBERED_MAX));
  const recall = (digest: string): TokenPrincipal | undefined => {
    const known = remembered.get(digest);
    if (!known || known.version !== keySet.version()) return undefined;
    const isRecent = clock.monotonicMs() - known.checkedAt < REMEMBERED_MS;
    return isRecent && clock.now() < known.expiresAt ? known.principal : undefined;
  };
  return {
    status: () => keySet.status(),
    verify: async (token) => {
      const digest = sha256Hex(token);
      const known = recall(digest);
      if (known) return known;
      const checked = await check(validation, token);
      remembered.set(digest, { ...checked, checkedAt: clock.monotonicMs() });
      return checked.principal;
    },
  };
}

/** @throws {unauthorized} @throws {identity-provider-unavailable} */
async function check(
  validation: Validation,
  token: string,
): Promise<Omit<Remembered, 'checkedAt'>> {
  try {
    const header = decodeProtectedHeader(token);
    refuseForeignKeys(header);
    refuseType(header.typ, validation.rules);
    // An id of a key is looked for only after the algorithm is known to be one of ours.
    if (!validation.rules.algorithms.includes(String(header.alg)))
      throw new errors.JOSEAlgNotAllowed('the algorithm is not allowed');
    const { keys, version } = await validation.keySet.find({ ...header, alg: String(header.alg) });
    const payload = await verifyWithAny(keys, token, optionsOf(validation));
    refuseClaims(payload, validation);
    const principal = toPrincipal(payload, validation.rules);
    return { principal, expiresAt: (payload.exp ?? 0) * SECOND, version };
  } catch (error) {
    if (isTrackportError(error)) throw error;
    // Claims are looked at once the signature is good.
    if (error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed)
      throw refusedClaim(error.claim, descriptionOf(error));
    // Whatever is not an outage is the token's fault: jose also throws plain errors for keys.
    throw refusedToken(error);
  }
}

const descriptions: Readonly<Record<string, string>> = {
  exp: 'it has expired',
  iss: 'it is of another issuer',
  aud: 'it is for another audience',
  nbf: 'it is not valid yet',
  iat: 'it was made in the future',
  sub: 'it names neither a subject nor a client',
  typ: 'it is an ID token',
  nonce: 'it is an ID token',
  at_hash: 'it is an ID token',
  c_hash: 'it is an ID token',
};

/** A workspace's claim has the name that the configuration gives it, and is named where it can stand in a header. */
function descriptionOf({ claim, reason }: { claim: string; reason: string }): string {
  const words = descriptions[claim] ?? 'its workspace cannot be read';
  if (reason === 'missing') return `it lacks a token claim (${claim})`;
  if (reason === 'invalid') return `a token claim has another form (${claim})`;
  return DESCRIBABLE.test(claim) ? `${words} (${claim})` : words;
}

/** Characters of an `error_description` (RFC 6750 §3). */
const DESCRIBABLE = /^[\x20\x21\x23-\x5b\x5d-\x7e]+$/;

/** A token that brings its own key, or says where to get it, proves nothing (RFC 8725 §3.10). */
function refuseForeignKeys(header: object): void {
  for (const name of ['jwk', 'jku', 'x5u'])
    if (Object.hasOwn(header, name)) throw new errors.JWTInvalid(`the header holds ${name}`);
}

/** A logout token or a proof of possession is signed by the same keys (RFC 8725 §3.11). */
function refuseType(typ: unknown, { tokenType }: TokenRules): void {
  const name = typeof typ === 'string' ? typ.toLowerCase().replace(/^application\//, '') : typ;
  const allowed = tokenType === 'any' ? ['at+jwt', 'jwt', undefined] : ['at+jwt'];
  if (!allowed.some((one) => one === name)) throw new errors.JWTInvalid('the type is another');
}

function optionsOf({ rules, clock }: Validation): JWTVerifyOptions {
  const strict = rules.tokenType === 'at+jwt' ? ['sub', 'jti', 'client_id'] : [];
  return {
    issuer: rules.issuer,
    audience: rules.audience,
    algorithms: [...rules.algorithms],
    clockTolerance: rules.clockToleranceMs / SECOND,
    currentDate: new Date(clock.now()),
    requiredClaims: ['exp', 'iss', 'aud', ...strict],
  };
}

/**
 * Several keys are there to try when the token names none and the issuer has more than one. One that cannot be
 * used (a weak one, say) made no signature of ours; once a signature is good, the claims decide.
 */
async function verifyWithAny(
  keys: readonly CryptoKey[],
  token: string,
  options: JWTVerifyOptions,
): Promise<JWTPayload> {
  let failure: unknown = new errors.JWSSignatureVerificationFailed();
  for (const key of keys) {
    try {
      return (await jwtVerify(token, key, options)).payload;
    } catch (error) {
      if (error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed)
        throw error;
      failure = error;
    }
  }
  throw failure;
}

function refuseClaims(payload: JWTPayload, { rules, clock }: Validation): void {
  const sign = signOfIdToken(payload, rules);
  if (sign !== undefined) refuseClaim(payload, sign);
  const subject = payload.sub ?? clientOf(payload);
  if (typeof subject !== 'string' || subject === '' || !isPlainLine(subject))
    refuseClaim(payload, 'sub');
  const ahead = (payload.iat ?? 0) * SECOND - clock.now();
  if (ahead > rules.clockToleranceMs) refuseClaim(payload, 'iat');
}

/**
 * The claim by which the payload is an ID token's. Keycloak names each token's kind in `typ`, and up to version 24
 * puts the sign-in's `nonce` into access tokens, too; those carry scopes, which an ID token never does.
 */
function signOfIdToken(payload: JWTPayload, { scopeClaim }: TokenRules): string | undefined {
  if (payload['typ'] === 'ID') return 'typ';
  const scopes = payload[scopeClaim];
  if (typeof scopes === 'string' || Array.isArray(scopes)) return undefined;
  return ['nonce', 'at_hash', 'c_hash'].find((name) => Object.hasOwn(payload, name));
}

function refuseClaim(payload: JWTPayload, claim: string): never {
  throw new errors.JWTClaimValidationFailed('refused', payload, claim, 'check_failed');
}

function toPrincipal(payload: JWTPayload, rules: TokenRules): TokenPrincipal {
  const clientId = clientOf(payload);
  return {
    // Some issuers name no subject in a machine's token.
    subject: payload.sub ?? clientId ?? '',
    clientId,
    scopes: parseScopes(payload[rules.scopeClaim]),
    workspaceId: workspaceOf(payload, rules.workspaceClaim),
  };
}

function clientOf(payload: JWTPayload): string | undefined {
  return ['client_id', 'azp', 'cid', 'appid']
    .map((name) => payload[name])
    .find((value): value is string => typeof value === 'string' && value !== '');
}

/** A workspace that cannot be read must not become the common one. */
function workspaceOf(payload: JWTPayload, claim: string): string {
  const value = payload[claim] ?? 'default';
  return isWorkspace(value) ? value : refuseClaim(payload, claim);
}
