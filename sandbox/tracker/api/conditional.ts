import { createHash } from 'node:crypto';
import { newUuid } from '#shared/ids.ts';
import type { TrackerResponse } from './response.ts';
import { apiVersionOf, type TrackerRequest } from './route.ts';

const GZIP_BYTES_MIN = 1024;

/** True when the response will leave compressed: then its ETag is a weak one. */
export function isCompressed(request: TrackerRequest, body: Buffer | undefined): boolean {
  return (
    /\bgzip\b/.test(request.headers['accept-encoding'] ?? '') &&
    (body?.length ?? 0) >= GZIP_BYTES_MIN
  );
}

/**
 * Adds the ETag, and turns a read that the caller already has into a 304. The tag covers the
 * credential and the body but neither address nor `Link`, as on the real tracker: a new token makes
 * every tag worthless, and a page may be "unchanged" although its `next` is new, which is why the
 * 304 carries `Link`.
 */
export function withValidator(request: TrackerRequest, response: TrackerResponse): TrackerResponse {
  if (request.method !== 'GET' || response.status !== 200 || request.path === '/rate_limit')
    return response;
  const etag = etagOf(request, response);
  const headers: Record<string, string> = {
    ...response.headers,
    etag,
    'cache-control': 'private, max-age=60, s-maxage=60',
    vary: 'Accept, Authorization, Cookie, X-GitHub-OTP,Accept-Encoding, Accept, X-Requested-With',
  };
  if (!isKnown(request.headers['if-none-match'], etag)) return { ...response, headers };
  return { status: 304, headers };
}

function etagOf(request: TrackerRequest, response: TrackerResponse): string {
  const { accept, authorization, cookie } = request.headers;
  const covered = [accept, authorization, cookie].join('');
  const digest = response.made?.digests.get(covered) ?? digestOf(covered, response.body);
  response.made?.digests.set(covered, digest);
  return isCompressed(request, response.body) ? `W/"${digest}"` : `"${digest}"`;
}

function digestOf(covered: string, body: Buffer = Buffer.alloc(0)): string {
  return createHash('sha256').update(`${covered}:`).update(body).digest('hex');
}

function isKnown(header: string | undefined, etag: string): boolean {
  const strong = etag.replace(/^W\//, '');
  return (header ?? '').split(',').some((tag) => tag.trim().replace(/^W\//, '') === strong);
}

/** Headers of every response. */
export function commonHeaders(request: TrackerRequest): Record<string, string> {
  return {
    server: 'github.com',
    'x-github-request-id': newUuid().replaceAll('-', '').slice(0, 16).toUpperCase(),
    'x-github-media-type': 'github.v3; format=json',
    'x-github-api-version-selected': apiVersionOf(request),
  };
}
