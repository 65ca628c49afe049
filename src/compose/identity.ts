import { createKeySet } from '#adapters/jose/key-set.ts';
import { createTokenVerifier } from '#adapters/jose/token-verifier.ts';
import type { TokenVerifier } from '#access/token-verifier.ts';
import type { Config } from '#config/schema.ts';
import type { HealthCheck } from '#http/routes/operations.ts';
import type { Clock } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';

/** The issuer that bearer tokens come from. */
export type Identity = { verifier: TokenVerifier; close(): void };

export type IdentityDeps = { identity: NonNullable<Config['identity']>; clock: Clock; log: Log };

/** Asks nothing of the issuer before the first token comes. */
export function createIdentity({ identity, clock, log }: IdentityDeps): Identity {
  const { issuer, jwksUri, clockTolerance, ...rules } = identity;
  const keySet = createKeySet({
    issuer,
    ...(jwksUri !== undefined && { keySetUrl: jwksUri }),
    clock,
    log,
  });
  const verifier = createTokenVerifier({
    keySet,
    clock,
    rules: { issuer, ...rules, clockToleranceMs: clockTolerance },
  });
  return { verifier, close: () => keySet.close() };
}

/** Told for people: most of the service needs no issuer. */
export function issuerCheck({ verifier }: Identity): HealthCheck {
  return {
    name: 'issuer',
    check: () => {
      const { state, keys, failure } = verifier.status();
      const known = keys === 1 ? '1 key known.' : `${keys} keys known.`;
      if (state === 'unknown') return { isReady: true, state, detail: 'Not asked yet.' };
      const trouble = failure === undefined ? '' : ` Last failure: ${failure}`;
      return { isReady: true, state, detail: `${known}${trouble}` };
    },
  };
}
