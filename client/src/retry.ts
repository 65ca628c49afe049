import { readRetryAfter } from './problem-error.ts';
import { createWatch, readParts } from './watch.ts';

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
/** The longest time of a timer. */
const TIMER_MAX_MS = 2 ** 31 - 1;

/** RFC 9110 §9.2.2. */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);

/** True when the same request may have a better answer later. */
export const isTransient = (status: number): boolean =>
  status === 408 || status === 429 || status >= 500;

/**
 * Wait after so many failures in a row (0: after the first one): as long as the server asks for, else twice as
 * long each time, from half a second to half a minute, less up to a half by chance.
 */
export function waitMsAfter(failures: number, retryAfterMs?: number): number {
  if (retryAfterMs !== undefined) return Math.min(retryAfterMs, TIMER_MAX_MS);
  return Math.min(FIRST_WAIT_MS * 2 ** failures, LONGEST_WAIT_MS) * (1 - Math.random() / 2);
}

/** @throws the reason of `signal` as soon as it is aborted */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const wake = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', wake);
      if (signal?.aborted) reject(signal.reason);
      else resolve();
    };
    const timer = setTimeout(wake, ms);
    if (signal?.aborted) wake();
    else signal?.addEventListener('abort', wake);
  });
}

export type RetryOptions = {
  /** Attempts of one request at most; 1: never again. */
  attemptsMax: number;
  /** Time limit of one attempt, its body included, in ms. */
  timeoutMs: number;
  /** The longest wait, in ms; an answer that asks for a longer one is given as it is. */
  waitMsMax: number;
};

/** `mayRepeat`: whatever it is, the receiver knows it when it comes again. */
type RetryingFetchOptions = RetryOptions & { mayRepeat?: boolean };

/**
 * A fetch that sends again what failed on the way, or met 408, 429 or 5xx, after the time that `Retry-After` says; but
 * nothing that could be done twice: a POST or PATCH only with an `Idempotency-Key`.
 */
export function createRetryingFetch(
  send: (request: Request) => Promise<Response>,
  { attemptsMax, timeoutMs, waitMsMax, mayRepeat: mayAlways = false }: RetryingFetchOptions,
): (request: Request) => Promise<Response> {
  return async (request) => {
    const mayRepeat =
      mayAlways || IDEMPOTENT.has(request.method) || request.headers.has('idempotency-key');
    for (let failures = 0; ; failures += 1) {
      const isLast = !mayRepeat || failures + 1 >= attemptsMax;
      const response = await attempt(send, request, timeoutMs).catch((error) => {
        if (isLast || request.signal.aborted) throw error;
        return undefined;
      });
      if (response && (isLast || !isWorthRepeating(response))) return response;
      const retryAfterMs = response && readRetryAfter(response.headers);
      if (response && (retryAfterMs ?? 0) > waitMsMax) return response;
      await sleep(waitMsAfter(failures, retryAfterMs), request.signal);
    }
  };
}

/** 409 with a time to wait: the same request, sent before, is still at work. */
function isWorthRepeating({ status, headers }: Response): boolean {
  return isTransient(status) || (status === 409 && headers.has('retry-after'));
}

/** The whole response: what is cut on the way has failed. */
async function attempt(
  send: (request: Request) => Promise<Response>,
  request: Request,
  timeoutMs: number,
): Promise<Response> {
  const watch = createWatch(request.signal);
  watch.expectWithin(timeoutMs);
  try {
    const response = await send(new Request(request.clone(), { signal: watch.signal }));
    return response.body ? await toWhole(response, response.body, watch.signal) : response;
  } finally {
    watch.end();
  }
}

async function toWhole(
  response: Response,
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): Promise<Response> {
  const parts: Uint8Array[] = [];
  for await (const part of readParts(body, signal)) parts.push(part);
  signal.throwIfAborted();
  const { status, statusText, headers, url } = response;
  const whole = new Response(new Blob(parts as BlobPart[]), { status, statusText, headers });
  return Object.defineProperty(whole, 'url', { value: url });
}
