import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Registry } from 'prom-client';
import type { ConsumerPrincipal } from '#access/keys/authenticate-key.ts';
import type { TokenPrincipal, TokenVerifier } from '#access/tokens.ts';
import type { ReadSpecBody, SpecText } from '#catalog/spec/spec-body.ts';
import type { Clock } from '#shared/clock.ts';
import type { Log, LogFields } from '#shared/log.ts';
import type { WebhookRefusal } from '#shared/outcomes/callers.ts';
import type { Access } from '#access/index.ts';
import type { Catalog } from '#catalog/index.ts';
import type { ClaimedLeads } from '#leads/claims/claimed-leads.ts';
import type { Leads } from '#leads/index.ts';
import type { TrackerDelivery, TrackerEvent } from '#leads/lead-tracker.ts';
import type { Partners } from '#partners/index.ts';
import type { Idempotency } from '#shared/idempotency.ts';
import type { ProblemPage } from './responses/problem.ts';
import type { CountRefusal } from './limits.ts';
import type { Backlog } from './responses/backlog.ts';
import type { PartnerRegistry } from './telemetry/partner-metrics.ts';

/** A Fastify instance whose routes are typed by their zod schemas. */
export type HttpApp = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>;

/** A request with the response that it is to get. */
export type Exchange = { request: FastifyRequest; reply: FastifyReply };

/** Reads bodies within the limit of the route and the budget of the server. */
export type ReadBody = (request: FastifyRequest, payload: Readable) => Promise<Buffer>;

/** Tools of the server for every area of routes. */
export type HttpContext = {
  /** The address that links and problem types use; no slash at its end; never from a request. */
  publicUrl: () => string;
  clock: Clock;
  log: Log;
  metrics: Registry;
  countRefusal: CountRefusal;
  /** All areas read bodies by it, so that one budget holds for all of them. */
  readBody: ReadBody;
  backlog: Backlog;
  /** For areas that people read: failures before routing can be pages there. */
  problemPages: Pick<Set<ProblemPage>, 'add'>;
  /** Turn what the framework refuses before a route is found into another failure on the paths of an area. */
  earlyErrors: Set<(request: EarlyRequest, error: unknown) => unknown>;
};

/** A request for which no route was looked for. */
export type EarlyRequest = Pick<FastifyRequest, 'method' | 'raw' | 'ip'>;

/** Given to every area of routes: the server's tools, and what it serves. */
export type AreaContext = HttpContext & UseCases;

/** Given where there is an issuer of tokens. */
export type BearerContext = AreaContext & BearerUseCases;

/** Adds the routes of one area to a scope of their own. */
export type Area = (app: HttpApp, context: AreaContext) => void | Promise<void>;

/** Fields of a request that areas and hooks add to those of the framework. */
type RequestFields = {
  /** Fields that the request's log line gets: ids only, never personal data or secrets. */
  logFacts: LogFields | undefined;
  /** Headers for pages of another origin, of which `vary` adds to that of the reply. */
  corsOut: Readonly<Record<string, string>> | undefined;
  /** See `hangUpOf`. */
  responseOut: ServerResponse | undefined;
  /** The body's share of the budget, from the moment it is read. */
  bodyHold: { release(): void } | undefined;
  /** The spec that the body held: in the body stands an empty object in its place. */
  spec: SpecText | undefined;
  /** Whose bearer token is good. */
  token: TokenPrincipal | undefined;
  /** Whose key is good, and may come here. */
  keyHolder: KeyHolder | undefined;
};

/** The caller with a key, and how often it may call. */
export type KeyHolder = { principal: ConsumerPrincipal; limitPerMinute: number };

/** Has each request begin with all of them undefined, so that all have one shape. */
export function decorateRequests(app: HttpApp): void {
  const fields: RequestFields = {
    logFacts: undefined,
    corsOut: undefined,
    responseOut: undefined,
    bodyHold: undefined,
    spec: undefined,
    token: undefined,
    keyHolder: undefined,
  };
  for (const name of Object.keys(fields)) app.decorateRequest(name, undefined);
}

declare module 'fastify' {
  interface FastifyRequest extends RequestFields {}
}

/**
 * Aborted when the caller hangs up before the response. `signal` of Fastify is that of the request, which
 * is over once its body was read.
 */
export function hangUpOf(
  { responseOut }: FastifyRequest,
  hangUp = new AbortController(),
): AbortSignal {
  const look = (): void => {
    if (responseOut?.writableFinished === false) hangUp.abort();
  };
  if (responseOut?.closed === true) look();
  else responseOut?.once('close', look);
  return hangUp.signal;
}

/** Calls `done` when all of the response has gone out: never, where the caller hung up before. */
export function onceSent({ responseOut }: FastifyRequest, done: () => void): void {
  responseOut?.once('finish', done);
}

/** All that routes map to HTTP: use cases, and the settings that show in their responses. */
export type UseCases = {
  access: Access;
  leads: Pick<Leads, 'reader' | 'leadFeed'>;
  claimedLeads: ClaimedLeads;
  partners: Partners;
  partnerRegistry: PartnerRegistry;
  trackerWebhook: TrackerWebhook;
  /** Aborted when whoever waits for changes is to be let go. */
  ending: AbortSignal;
  /** Without an issuer nothing that takes bearer tokens is served. */
  bearer?: BearerUseCases | undefined;
  /** As `server.securityContact`. */
  securityContact?: string | undefined;
};

/** Those that need an issuer of tokens. */
export type BearerUseCases = {
  verifier: TokenVerifier;
  catalog: Catalog;
  readSpecBody: ReadSpecBody;
  idempotency: Idempotency;
};

export type TrackerWebhook = {
  /** @throws {unauthorized} @throws {malformed-json} @throws {overloaded} */
  verify: (delivery: TrackerDelivery) => Promise<TrackerEvent>;
  /** Called after the response, for one event after the other. */
  onTrackerEvent: (event: TrackerEvent) => void;
  /** Called for each delivery that was refused: anybody can cause it, so it must cost nothing. */
  onRefused: (reason: WebhookRefusal) => void;
  /** Resolves when all that came of the events so far is done. */
  settled: () => Promise<void>;
};
