import { onTestFinished } from 'vitest';
import { createKeySet, type KeySet, type KeySource } from '#adapters/jose/key-set.ts';
import { createTokenVerifier, type TokenRules } from '#adapters/jose/token-verifier.ts';
import type { TokenVerifier } from '#access/tokens.ts';
import { silentLog } from '#shared/log.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { AUDIENCE, startIssuer, type TestIssuer } from '../../support/issuer.ts';

export type World = {
  issuer: TestIssuer;
  clock: FakeClock;
  keySet: KeySet;
  verifier: TokenVerifier;
};

export type WorldOptions = { rules?: Partial<TokenRules>; keys?: Partial<KeySource> };

/** A verifier that trusts an issuer of its own; the clock stands at 12:00 on 1 March 2026. */
export async function openWorld({ rules, keys }: WorldOptions = {}): Promise<World> {
  const issuer = await startIssuer();
  const clock = createFakeClock();
  const keySet = createKeySet({ issuer: issuer.issuer, clock, log: silentLog, ...keys });
  onTestFinished(() => keySet.close());
  const verifier = createTokenVerifier({
    keySet,
    clock,
    rules: {
      issuer: issuer.issuer,
      audience: AUDIENCE,
      algorithms: ['RS256', 'PS256', 'ES256', 'EdDSA'],
      tokenType: 'any',
      scopeClaim: 'scope',
      workspaceClaim: 'workspace_id',
      clockToleranceMs: 5000,
      ...rules,
    },
  });
  return { issuer, clock, keySet, verifier };
}
