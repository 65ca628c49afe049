import { readRetryAfter } from './problem-error.ts';

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
/** What a timer can hold. */
const TIMER_MAX_MS = 2 ** 31 - 1;

/** RFC 9110 §9.2.2. */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);

/** Whether the same may have a better answer later. */
export const isTransient = (status: number): boolean =>
  status === 408 || status === 429 || status >= 500;

/**
 * How long to wait after so many failures in a row (0: after the first one): what the server asks for, else twice as
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
  /** How often the same request is sent at most; 1: never again. */
  attemptsMax: number;
  /** How long one attempt may take, its body included, in ms. */
  timeoutMs: number;
};

/**
 * A fetch that sends again what failed on the way, or met 408, 429 or 5xx, after the time that `Retry-After` says; but
 * nothing that could be done twice: a POST or PATCH only with an `Idempotency-Key`.
 */
export function createRetryingFetch(
  send: typeof fetch,
  { attemptsMax, timeoutMs }: RetryOptions,
): (request: Request) => Promise<Response> {
  return async (request) => {
    const mayRepeat = IDEMPOTENT.has(request.method) || request.headers.has('idempotency-key');
    for (let failures = 0; ; failures += 1) {
      const isLast = !mayRepeat || failures + 1 >= attemptsMax;
      const signal = AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)]);
      const response = await send(new Request(request.clone(), { signal })).catch((error) => {
        if (isLast || request.signal.aborted) throw error;
        return undefined;
      });
      if (response && (isLast || !isTransient(response.status))) return response;
      await response?.body?.cancel();
      const retryAfterMs = response && readRetryAfter(response.headers);
      await sleep(waitMsAfter(failures, retryAfterMs), request.signal);
    }
  };
}
