import { gzipSync } from 'node:zlib';
import type { PortalResponse } from './portal.ts';

/** What a page may have, with everything that a browser loads for it. */
export const PAGE_BYTES_MAX = 50_000;

type Browser = { get(path: string): Promise<PortalResponse> };

/**
 * Bytes that come to a browser for a page: the document, which is never compressed, with its inline
 * pictures, and the service's own files as a browser takes them.
 */
export async function bytesOf(browser: Browser, page: PortalResponse): Promise<number> {
  const files = new Set(
    Array.from(page.body.matchAll(/(?:href|src)="(\/portal\/assets\/[^"]+)"/g), ([, path]) => path),
  );
  let bytes = Buffer.byteLength(page.body);
  for (const path of files) bytes += gzipSync((await browser.get(path ?? '')).body).length;
  return bytes;
}
