/** The client of Trackport, by `fetch` and WebCrypto alone. */
import createFetchClient, {
  type Client,
  type ClientOptions as FetchClientOptions,
} from 'openapi-fetch';
import type { components, paths } from './api.ts';
import {
  followBatches,
  followChanges,
  type BatchesOptions,
  type ChangesOptions,
} from './changes.ts';
import { addCredential, type Credential } from './credential.ts';
import {
  type Accepted,
  type Delivery,
  type DeliveryStatus,
  sendDelivery,
  untilSettled,
} from './delivery.ts';
import { followLeads, type Following, type FollowOptions, type LeadStore } from './follow.ts';
import { unwrap } from './problem-error.ts';
import { createRetryingFetch, type RetryOptions } from './retry.ts';
import { type Answers, createTurns, type Change, type ChangeBatch } from './transports.ts';

export type { Middleware } from 'openapi-fetch';
export type { components, paths } from './api.ts';
export type { BatchesOptions, ChangesOptions } from './changes.ts';
export type { Credential } from './credential.ts';
export type { Accepted, Delivery, DeliveryStatus } from './delivery.ts';
export type { Following, FollowOptions, LeadStore } from './follow.ts';
export { CursorExpiredError, ProblemError, unwrap } from './problem-error.ts';
export { signHmac, signHmacSha256, signStandardWebhooks, signV3 } from './sign.ts';
export type { HmacSignature } from './sign.ts';
export type { Change, ChangeBatch } from './transports.ts';

export type Lead = components['schemas']['Lead'];

/** Filters of the list; default: open leads, 100 a page. */
export type LeadsOptions = Omit<
  NonNullable<paths['/api/v1/leads']['get']['parameters']['query']>,
  'cursor'
> & { signal?: AbortSignal };

export type ClientOptions = Omit<FetchClientOptions, 'fetch' | 'headers'> &
  Partial<RetryOptions> & {
    /** Address of Trackport, as `https://adapter.example.com`. */
    baseUrl: string;
    /** Of a consumer. */
    apiKey?: Credential;
    /** Of the issuer: a bearer token. */
    token?: Credential;
    /** Of every call. */
    headers?: Record<string, string>;
    fetch?: typeof fetch;
  };

/**
 * `GET`, `POST`, `PUT`, `PATCH` and `DELETE` are those of openapi-fetch, typed by the API; so are `use` and `eject`,
 * whose middleware sees every call, those of `leads`, `changes`, `batches` and `follow` among them.
 */
export type TrackportClient = Client<paths, Answers> & {
  /** Every lead that the key may read, newest first. @throws ProblemError */
  leads(options?: LeadsOptions): AsyncGenerator<Lead, void>;
  /** Changes of leads, without an end. @throws ProblemError, CursorExpiredError */
  changes(options?: ChangesOptions): AsyncGenerator<Change, void>;
  /** Changes batch by batch, as they come, with a cursor from the first answer on. @throws ProblemError, CursorExpiredError */
  batches(options?: BatchesOptions): AsyncGenerator<ChangeBatch, void>;
  /** Keeps a copy of every lead that the key may read. */
  follow(store: LeadStore, options?: FollowOptions): Following;
  /** Sends events or deletions as a partner. @throws ProblemError */
  send(delivery: Delivery): Promise<Accepted>;
  /** Resolves when nothing of a delivery is under way any more. @throws ProblemError */
  settled(statusUrl: string, options?: { signal?: AbortSignal }): Promise<DeliveryStatus>;
};

/**
 * Calls are sent up to `attemptsMax` times (5), each for at most `timeoutMs` (60,000).
 * @throws TypeError `baseUrl` is no address
 */
export function createClient(options: ClientOptions): TrackportClient {
  const { apiKey, token, fetch: send = globalThis.fetch, ...rest } = options;
  const { attemptsMax = 5, timeoutMs = 60_000, waitMsMax = Infinity, ...fetchOptions } = rest;
  const retry = { attemptsMax, timeoutMs, waitMsMax };
  const sendOnce = (request: Request): Promise<Response> => send(request);
  const api = createFetchClient<paths, Answers>({
    ...fetchOptions,
    baseUrl: toBaseUrl(options.baseUrl),
    fetch: createRetryingFetch(sendOnce, retry),
  });
  addCredential(api, 'X-API-KEY', apiKey);
  addCredential(api, 'Authorization', token, 'Bearer ');
  const turns = createTurns(api, sendOnce);
  const batches = (place: BatchesOptions = {}) => followBatches(turns, place);
  return {
    ...api,
    leads: (query) => readLeads(api, query),
    changes: (place = {}) => followChanges(turns, place),
    batches,
    follow: (store, follow) => followLeads(batches, store, follow),
    send: (delivery) => sendDelivery(api, sendOnce, { retry, delivery }),
    settled: (statusUrl, { signal } = {}) => untilSettled(api, statusUrl, signal),
  };
}

function toBaseUrl(text: string): string {
  if (/^https?:\/\//i.test(text) && URL.canParse(text)) return new URL(text).href;
  throw new TypeError(
    `baseUrl is ${JSON.stringify(text)}: write a whole address that begins with https:// or http://, as https://adapter.example.com`,
  );
}

async function* readLeads(
  api: Client<paths, Answers>,
  { signal, ...filters }: LeadsOptions = {},
): AsyncGenerator<Lead, void> {
  let cursor: string | undefined;
  do {
    const query = { limit: 100, ...filters, ...(cursor !== undefined && { cursor }) };
    const result = await api.GET('/api/v1/leads', {
      params: { query },
      ...(signal && { signal }),
    });
    const page = unwrap(result);
    yield* page.items;
    cursor = page.pagination.hasMore ? page.pagination.nextCursor : undefined;
  } while (cursor !== undefined);
}
