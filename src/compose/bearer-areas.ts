import { createAuditLog } from '#adapters/sqlite/audit-log.ts';
import { createClaimStore } from '#adapters/sqlite/claims.ts';
import { createIdempotencyStore } from '#adapters/sqlite/idempotency-store.ts';
import type { BodyReaders } from '#adapters/threads/body-readers.ts';
import type { Limiter } from '#access/limit.ts';
import { createIdempotency } from '#shared/idempotency.ts';
import type { Config } from '#config/schema.ts';
import type { FixedConfig } from '#config/take-over.ts';
import type { AppDeps } from '#http/app.ts';
import { createAuthorizeBearer } from '#http/authorize-bearer.ts';
import { createRefusalLimiter } from '#http/refusal-limiter.ts';
import type { Clock } from '#shared/clock.ts';
import { newUuid } from '#shared/ids.ts';
import type { Reloadable } from '#shared/reloadable.ts';

import { composeCatalog } from './catalog.ts';
import type { Identity } from './identity.ts';
import type { PartnerArea } from './partners.ts';
import type { Store } from './store.ts';

export type BearerAreaDeps = {
  config: FixedConfig;
  settings: Reloadable<Config>;
  identity: Identity;
  store: Store;
  partners: Pick<PartnerArea, 'receipts'>;
  bodies: Pick<BodyReaders, 'specBody'>;
  /** The limiter of refused credentials that the app uses too. */
  refusalLimiter: Limiter;
  clock: Clock;
};

/** The areas that need a bearer token: catalog, consumers, receipts, audit, claims. */
export function createBearerAreas(
  deps: BearerAreaDeps,
): Required<Pick<AppDeps, 'catalog' | 'consumers' | 'receipts' | 'audit' | 'claims'>> {
  const { config, settings, identity, store, partners, bodies, refusalLimiter, clock } = deps;
  const authorize = createAuthorizeBearer({
    verifier: identity.verifier,
    refusals: createRefusalLimiter({ limiter: refusalLimiter }),
  });
  const idempotency = createIdempotency({ store: createIdempotencyStore(store.database), clock });
  return {
    catalog: {
      catalog: composeCatalog({ rules: () => settings.current().catalog, clock, store }),
      readSpecBody: bodies.specBody,
      idempotency,
      authorize,
    },
    consumers: {
      manage: { store: store.consumers, clock, newId: newUuid },
      idempotency,
      cursors: store.cursors,
      authorize,
    },
    receipts: { ...partners.receipts, authorize },
    claims: {
      manage: {
        claims: createClaimStore(store.database, config.tracker),
        cursors: store.cursors,
        clock,
      },
      authorize,
    },
    audit: {
      list: { audit: createAuditLog(store.database), cursors: store.cursors },
      authorize,
    },
  };
}
