import { createKeySet } from '#adapters/jose/key-set.ts';
import { createTokenVerifier } from '#adapters/jose/token-verifier.ts';
import type { Config } from '#config/schema/schema.ts';
import { composeCatalog } from './catalog.ts';
import type { BaseParts, BearerParts } from './parts.ts';

/** No request to the issuer before the first token comes. */
export async function openBearerParts(
  { settings, clock, log, store, cleanup }: BaseParts,
  { issuer, jwksUri, clockTolerance, ...rules }: NonNullable<Config['identity']>,
): Promise<BearerParts> {
  const keySet = createKeySet({ issuer, keySetUrl: jwksUri, clock, log });
  cleanup.push('the issuer', () => keySet.close());
  const verifier = createTokenVerifier({
    keySet,
    clock,
    rules: { issuer, ...rules, clockToleranceMs: clockTolerance },
  });
  const catalog = composeCatalog(store, { rules: () => settings.current().catalog, clock, log });
  cleanup.push('the record of reads', () => catalog.usage.close());
  return { identity: { verifier, keySet }, catalog };
}
