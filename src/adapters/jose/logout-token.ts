/**
 * Logout tokens of the issuer (OpenID Connect Back-Channel Logout 1.0 §2.6), checked by the keys that
 * access tokens are checked by.
 */
import { decodeProtectedHeader, type JWTPayload } from 'jose';
import type { LogoutToken, LogoutTokenVerifier } from '#access/sessions/issuer-client.ts';
import { refusedToken } from '#access/tokens.ts';
import { type Clock, MINUTE, SECOND } from '#shared/clock.ts';
import { isTrackportError } from '#shared/errors.ts';
import { isRecord } from '#shared/text/json.ts';
import type { KeySet } from './key-set.ts';
import { refuseForeignKeys, verifyWithAny } from './token-verifier.ts';

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
/** Issuers send it at once; an older one is a repeat or a find. */
const LOGOUT_TOKEN_AGE_MS = 5 * MINUTE;
const TYPES: ReadonlySet<string> = new Set(['logout+jwt', 'application/logout+jwt', 'jwt']);

export type LogoutTokenDeps = {
  keySet: Pick<KeySet, 'find'>;
  rules: {
    issuer: string;
    /** Whom the issuer tells. */
    clientId: string;
    algorithms: readonly string[];
    clockToleranceMs: number;
  };
  clock: Pick<Clock, 'now'>;
};

export function createLogoutTokenVerifier(deps: LogoutTokenDeps): LogoutTokenVerifier {
  return {
    verify: async (token) => {
      try {
        return toLogoutToken(await check(deps, token));
      } catch (error) {
        // Whatever is not an outage is the token's fault: jose also throws plain errors for keys.
        throw isTrackportError(error) ? error : refusedToken(error);
      }
    },
  };
}

async function check({ keySet, rules, clock }: LogoutTokenDeps, token: string) {
  const header = decodeProtectedHeader(token);
  refuseForeignKeys(header);
  const { typ = 'jwt', alg = '' } = header;
  if (!TYPES.has(typ.toLowerCase()) || !rules.algorithms.includes(alg)) throw refusedToken();
  const { keys } = await keySet.find({ ...header, alg });
  return verifyWithAny(keys, token, {
    issuer: rules.issuer,
    audience: rules.clientId,
    algorithms: [...rules.algorithms],
    requiredClaims: ['iat', 'jti', 'events'],
    maxTokenAge: LOGOUT_TOKEN_AGE_MS / SECOND,
    clockTolerance: rules.clockToleranceMs / SECOND,
    currentDate: new Date(clock.now()),
  });
}

function toLogoutToken(payload: JWTPayload): LogoutToken {
  const { jti, iat, sub, sid, nonce, events } = payload;
  const isLogout = isRecord(events) && isRecord(events[EVENT]);
  const hasSubject = typeof sub === 'string';
  const hasSession = typeof sid === 'string';
  // With a nonce it is an ID token, which anybody at the portal may have.
  if (!isLogout || nonce !== undefined || (!hasSubject && !hasSession)) throw refusedToken();
  if (typeof jti !== 'string' || iat === undefined) throw refusedToken();
  return {
    id: jti,
    issuedAt: iat * SECOND,
    ...(hasSubject && { issuerSubject: sub }),
    ...(hasSession && { issuerSession: sid }),
  };
}
