import { createKeySet, type KeySet } from '#adapters/jose/key-set.ts';
import { createTokenVerifier } from '#adapters/jose/token-verifier.ts';
import type { TokenVerifier } from '#access/tokens.ts';
import type { Config } from '#config/schema/schema.ts';
import type { Clock } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';

/** The issuer that bearer tokens come from. */
export type Identity = { verifier: TokenVerifier; keySet: Pick<KeySet, 'find'>; close(): void };

type IdentityDeps = { identity: NonNullable<Config['identity']>; clock: Clock; log: Log };

/** No request to the issuer before the first token comes. */
export function composeIdentity({ identity, clock, log }: IdentityDeps): Identity {
  const { issuer, jwksUri, clockTolerance, ...rules } = identity;
  const keySet = createKeySet({ issuer, keySetUrl: jwksUri, clock, log });
  const verifier = createTokenVerifier({
    keySet,
    clock,
    rules: { issuer, ...rules, clockToleranceMs: clockTolerance },
  });
  return { verifier, keySet, close: () => keySet.close() };
}
