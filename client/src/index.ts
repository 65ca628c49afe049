/** The client of Trackport, by `fetch` and WebCrypto alone. */
import createFetchClient, {
  type Client,
  type ClientOptions as FetchClientOptions,
} from 'openapi-fetch';
import type { components, paths } from './api.ts';
import { followChanges, type Change, type ChangesOptions } from './changes.ts';
import { unwrap } from './problem-error.ts';
import { createRetryingFetch, type RetryOptions } from './retry.ts';
import { createPoll, createStream } from './transports.ts';

export type { components, paths } from './api.ts';
export type { Change, ChangesOptions } from './changes.ts';
export { CursorExpiredError, ProblemError, unwrap } from './problem-error.ts';
export { signHmacSha256, signV3 } from './sign.ts';

export type Lead = components['schemas']['Lead'];

/** Filters of the list; default: open leads, 100 a page. */
export type LeadsOptions = Omit<
  NonNullable<paths['/api/v1/leads']['get']['parameters']['query']>,
  'cursor'
> & { signal?: AbortSignal };

export type ClientOptions = Omit<FetchClientOptions, 'fetch' | 'headers'> &
  Partial<RetryOptions> & {
    /** Where Trackport is, as `https://adapter.example.com`. */
    baseUrl: string;
    /** Of a consumer. */
    apiKey?: string;
    /** Of every call; a bearer token is `{ authorization: 'Bearer …' }`. */
    headers?: Record<string, string>;
    fetch?: typeof fetch;
  };

/** `GET`, `POST`, `PUT`, `PATCH` and `DELETE` are those of openapi-fetch, typed by the API. */
export type TrackportClient = Client<paths> & {
  /** Every lead that the key may read, newest first. @throws ProblemError */
  leads(options?: LeadsOptions): AsyncGenerator<Lead, void>;
  /** What changes, without an end. @throws ProblemError, CursorExpiredError */
  changes(options?: ChangesOptions): AsyncGenerator<Change, void>;
};

/**
 * Calls are sent up to `attemptsMax` times (5), each for at most `timeoutMs` (60,000).
 * @throws TypeError `baseUrl` is no address
 */
export function createClient(options: ClientOptions): TrackportClient {
  const { apiKey, fetch: send = globalThis.fetch, ...rest } = options;
  const { attemptsMax = 5, timeoutMs = 60_000, headers, ...fetchOptions } = rest;
  const baseUrl = new URL(options.baseUrl).href;
  const shared = {
    ...fetchOptions,
    baseUrl,
    headers: { ...(apiKey && { 'X-API-KEY': apiKey }), ...headers },
  };
  const api = createFetchClient<paths>({
    ...shared,
    fetch: createRetryingFetch(send, { attemptsMax, timeoutMs }),
  });
  // Who follows goes on after failures by itself.
  const once = createFetchClient<paths>({ ...shared, fetch: (request) => send(request) });
  const turns = { stream: createStream(once), poll: createPoll(once) };
  return {
    ...api,
    leads: (query) => readLeads(api, query),
    changes: (query = {}) => followChanges(turns, query),
  };
}

async function* readLeads(
  api: Client<paths>,
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
    cursor = page.pagination.nextCursor;
  } while (cursor !== undefined);
}
