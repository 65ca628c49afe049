import type { TokenVerifier } from '#access/tokens/token-verifier.ts';
import type { Limiter } from '#access/limit.ts';
import type { Catalog } from '#catalog/index.ts';
import type { AppDeps } from '#http/app.ts';
import { createAuthorizeBearer } from '#http/auth/bearer.ts';
import { createRefusalLimiter } from '#http/auth/refusal-limiter.ts';
import { createIdempotency } from '#shared/idempotency.ts';

import type { ServiceParts } from '../parts.ts';

export type BearerParts = Pick<
  ServiceParts,
  'access' | 'claimedLeads' | 'partners' | 'bodies' | 'store' | 'clock'
> & {
  identity: { verifier: Pick<TokenVerifier, 'verify'> };
  catalog: Catalog;
  /** The limiter of refused credentials that the app uses too. */
  refusalLimiter: Limiter;
};

/** The areas that need a bearer token: catalog, consumers, receipts, audit, claims. */
export function composeBearerRoutes(
  parts: BearerParts,
): Required<Pick<AppDeps, 'catalog' | 'consumers' | 'receipts' | 'audit' | 'claims'>> {
  const { access, catalog, claimedLeads, partners, bodies, store, clock } = parts;
  const { identity, refusalLimiter } = parts;
  const refusals = createRefusalLimiter({ limiter: refusalLimiter });
  const authorize = createAuthorizeBearer({ verifier: identity.verifier, refusals });
  const idempotency = createIdempotency({ store: store.stores.idempotency(), clock });
  return {
    catalog: { catalog, readSpecBody: bodies.specBody, idempotency, authorize, access },
    consumers: { access, idempotency, authorize },
    receipts: { receipts: partners.receipts, authorize },
    claims: { claimedLeads, authorize },
    audit: { access, authorize },
  };
}
