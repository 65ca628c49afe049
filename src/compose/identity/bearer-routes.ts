import type { Access } from '#access/index.ts';
import type { Limiter } from '#access/limit.ts';
import type { TokenVerifier } from '#access/tokens/token-verifier.ts';
import type { BodyReaders } from '#adapters/threads/body-readers.ts';
import type { Catalog } from '#catalog/index.ts';
import type { AppDeps } from '#http/app.ts';
import { createAuthorizeBearer } from '#http/auth/authorize-bearer.ts';
import { createRefusalLimiter } from '#http/auth/refusal-limiter.ts';
import type { ClaimedLeads } from '#leads/claims/claimed-leads.ts';
import type { Partners } from '#partners/index.ts';
import type { Clock } from '#shared/clock.ts';
import { createIdempotency } from '#shared/idempotency.ts';

import type { Stores } from '../stores/stores.ts';

export type BearerRoutesDeps = {
  verifier: Pick<TokenVerifier, 'verify'>;
  access: Access;
  catalog: Catalog;
  claimedLeads: ClaimedLeads;
  receipts: Partners['receipts'];
  bodies: Pick<BodyReaders, 'specBody'>;
  store: { stores: Pick<Stores, 'idempotency'> };
  /** The limiter of refused credentials that the app uses too. */
  refusalLimiter: Limiter;
  clock: Clock;
};

/** The areas that need a bearer token: catalog, consumers, receipts, audit, claims. */
export function composeBearerRoutes(
  deps: BearerRoutesDeps,
): Required<Pick<AppDeps, 'catalog' | 'consumers' | 'receipts' | 'audit' | 'claims'>> {
  const { verifier, access, catalog, claimedLeads, receipts, bodies, store } = deps;
  const { refusalLimiter, clock } = deps;
  const refusals = createRefusalLimiter({ limiter: refusalLimiter });
  const authorize = createAuthorizeBearer({ verifier, refusals });
  const idempotency = createIdempotency({ store: store.stores.idempotency(), clock });
  return {
    catalog: { catalog, readSpecBody: bodies.specBody, idempotency, authorize, access },
    consumers: { access, idempotency, authorize },
    receipts: { receipts, authorize },
    claims: { claimedLeads, authorize },
    audit: { access, authorize },
  };
}
