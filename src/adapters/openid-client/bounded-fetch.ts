import type { CustomFetch } from 'openid-client';

const RESPONSE_BYTES_MAX = 512 * 1024;

/** `fetch` whose responses are at most 512 KiB, and which is given up when `closed` is aborted. */
export function createBoundedFetch(closed: AbortSignal): CustomFetch {
  return async (url, options) => {
    const { signal } = options;
    const response = await fetch(url, {
      ...(options as RequestInit),
      signal: signal ? AbortSignal.any([closed, signal]) : closed,
    });
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of response.body ?? []) {
      bytes += chunk.byteLength;
      if (bytes > RESPONSE_BYTES_MAX) throw new TypeError('the response is too large');
      chunks.push(chunk);
    }
    const { status, headers } = response;
    const isBodiless = status === 204 || status === 304;
    return new Response(isBodiless ? null : Buffer.concat(chunks), { status, headers });
  };
}
