import type { Access } from '#access/index.ts';
import type { Limiter } from '#access/limit.ts';
import type { TokenVerifier } from '#access/tokens/token-verifier.ts';
import type { BodyReaders } from '#adapters/threads/body-readers.ts';
import type { CatalogRules } from '#catalog/index.ts';
import type { AppDeps } from '#http/app.ts';
import { createAuthorizeBearer } from '#http/auth/authorize-bearer.ts';
import { createRefusalLimiter } from '#http/auth/refusal-limiter.ts';
import type { ClaimedLeads } from '#leads/claims/claimed-leads.ts';
import type { Partners } from '#partners/index.ts';
import type { Clock } from '#shared/clock.ts';
import { createIdempotency } from '#shared/idempotency.ts';

import { composeCatalog } from '../catalog.ts';
import type { Store } from '../store.ts';
import type { Stores } from '../stores/stores.ts';

export type BearerRoutesDeps = {
  verifier: Pick<TokenVerifier, 'verify'>;
  access: Access;
  catalogRules: () => CatalogRules;
  claimedLeads: ClaimedLeads;
  receipts: Partners['receipts'];
  bodies: Pick<BodyReaders, 'specBody'>;
  store: Pick<Store, 'cursors'> & { stores: Pick<Stores, 'artifacts' | 'idempotency'> };
  /** The limiter of refused credentials that the app uses too. */
  refusalLimiter: Limiter;
  clock: Clock;
};

/** The areas that need a bearer token: catalog, consumers, receipts, audit, claims. */
export function composeBearerRoutes(
  deps: BearerRoutesDeps,
): Required<Pick<AppDeps, 'catalog' | 'consumers' | 'receipts' | 'audit' | 'claims'>> {
  const { verifier, access, claimedLeads, receipts, bodies, store, refusalLimiter, clock } = deps;
  const refusals = createRefusalLimiter({ limiter: refusalLimiter });
  const authorize = createAuthorizeBearer({ verifier, refusals });
  const idempotency = createIdempotency({ store: store.stores.idempotency(), clock });
  const catalog = composeCatalog({ rules: deps.catalogRules, clock, store });
  return {
    catalog: { catalog, readSpecBody: bodies.specBody, idempotency, authorize },
    consumers: { access, idempotency, authorize },
    receipts: { receipts, authorize },
    claims: { claimedLeads, authorize },
    audit: { access, authorize },
  };
}
