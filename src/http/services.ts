import type { Access } from '#access/index.ts';
import type { TokenVerifier } from '#access/tokens.ts';
import type { Catalog } from '#catalog/index.ts';
import type { ReadSpecBody } from '#catalog/spec/spec-body.ts';
import type { ClaimedLeads } from '#leads/claims/claimed-leads.ts';
import type { Leads } from '#leads/index.ts';
import type { TrackerEvent } from '#leads/lead-tracker.ts';
import type { Partners } from '#partners/index.ts';
import type { Idempotency } from '#shared/idempotency.ts';
import type { ServiceReports } from './routes/operations/readiness.ts';
import type { PartnerRegistry } from './telemetry/partner-metrics.ts';

/** What the areas of routes work on: one bag for all of them. */
export type Services = {
  access: Access;
  leads: Pick<Leads, 'reader' | 'leadFeed'>;
  claimedLeads: ClaimedLeads;
  partners: Partners;
  partnerRegistry: PartnerRegistry;
  trackerWebhook: TrackerWebhook;
  /** Aborted when whoever waits for changes is to be let go. */
  ending: AbortSignal;
  /** Without an issuer nothing that takes bearer tokens is served. */
  bearer?: BearerServices | undefined;
  /** Left out when they have a port of their own: see `createOperationsApp`. */
  operations?: ServiceReports | undefined;
};

/** What there is only with an issuer of tokens. */
export type BearerServices = {
  verifier: Pick<TokenVerifier, 'verify'>;
  catalog: Catalog;
  readSpecBody: ReadSpecBody;
  idempotency: Idempotency;
};

/** A delivery of the tracker's webhook as it came. */
export type TrackerDelivery = {
  /** `X-GitHub-Event`. */
  event: string | undefined;
  /** `X-Hub-Signature-256`. */
  signature: string | undefined;
  rawBody: Buffer;
};

/** Why a delivery of the tracker was refused, for operators. */
export type TrackerRefusal =
  | 'signature-missing'
  | 'signature-malformed'
  | 'signature-wrong'
  | 'content-type'
  | 'too-large'
  | 'malformed';

export type TrackerWebhook = {
  /** @throws {unauthorized} @throws {malformed-json} @throws {overloaded} */
  verify: (delivery: TrackerDelivery) => Promise<TrackerEvent>;
  /** Called after the response, for one event after the other. */
  onTrackerEvent: (event: TrackerEvent) => void;
  /** Called for each delivery that was refused: anybody can cause it, so it must cost nothing. */
  onRefused: (reason: TrackerRefusal) => void;
  /** Resolves when all that came of the events so far is done. */
  settled: () => Promise<void>;
};
