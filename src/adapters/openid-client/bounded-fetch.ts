import type { CustomFetch } from 'openid-client';
import { readBytes } from '#shared/text/read-bytes.ts';

const RESPONSE_BYTES_MAX = 512 * 1024;

/** `fetch` whose responses are at most 512 KiB, and which is given up when `closed` is aborted. */
export function createBoundedFetch(closed: AbortSignal): CustomFetch {
  return async (url, options) => {
    const { signal } = options;
    const response = await fetch(url, {
      ...(options as RequestInit),
      signal: signal ? AbortSignal.any([closed, signal]) : closed,
    });
    const { status, headers, body } = response;
    const tooLarge = (): Error => new TypeError('the response is too large');
    const bytes = await readBytes(body, RESPONSE_BYTES_MAX, tooLarge);
    const isBodiless = status === 204 || status === 304;
    return new Response(isBodiless ? null : bytes, { status, headers });
  };
}
