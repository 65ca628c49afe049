import type { Access } from '#access/index.ts';
import type { TokenVerifier } from '#access/tokens.ts';
import type { KeySet } from '#adapters/jose/key-set.ts';
import type { BodyReaders } from '#adapters/threads/body-readers.ts';
import type { Thread } from '#adapters/threads/thread.ts';
import type { Catalog } from '#catalog/version/version-view.ts';
import type { Config } from '#config/schema/schema.ts';
import type { FixedConfig } from '#config/take-over.ts';
import type { ClaimedLeads } from '#leads/claims/claimed-leads.ts';
import type { DirectoryFiller } from '#leads/directory/fill-directory.ts';
import type { InstanceChanges } from '#leads/instance-changes/instance-changes.ts';
import type { Leads } from '#leads/index.ts';
import type { Partners } from '#partners/index.ts';
import type { Hearing } from '#partners/silence.ts';
import type { Traffic } from '#partners/traffic.ts';
import type { Clock } from '#shared/clock.ts';
import type { Log } from '#shared/log.ts';
import type { Reloadable } from '#shared/reloadable.ts';
import type { CleanupStack } from '#shared/resilience/cleanup-stack.ts';
import type { Tracing } from '#shared/tracing.ts';
import type { Registry } from 'prom-client';
import type * as bodyFunctions from './body-functions.ts';
import type { Store } from './store.ts';
import type { Tracker } from './tracker.ts';

/** What all of it may be made of. */
export type Base = {
  /** What a reload leaves as it is; the rest is read from `settings`. */
  config: FixedConfig;
  settings: Reloadable<Config>;
  clock: Clock;
  log: Log;
  registry: Registry;
  tracing: Tracing | undefined;
  store: Store;
  /** What is acquired says there how it is given back, last first. */
  cleanup: CleanupStack;
};

/** Where tokens have an issuer. */
export type Bearer = {
  identity: { verifier: TokenVerifier; keySet: Pick<KeySet, 'find'> };
  /** One for the API and the portal, which share its threads. */
  catalog: Catalog;
};

/** All that works in a service, whoever serves it. */
export type App = Base & {
  tracker: Tracker;
  leads: Leads;
  claimedLeads: ClaimedLeads;
  filler: DirectoryFiller;
  instanceChanges: InstanceChanges;
  bodies: BodyReaders;
  bodyThread: Thread<typeof bodyFunctions>;
  /** Without it nothing that needs a bearer token is served. */
  bearer: Bearer | undefined;
  access: Access;
  traffic: Traffic;
  hearing: Hearing;
  partners: Partners;
};
