import { createHash } from 'node:crypto';
import { newUuid } from '#shared/ids.ts';
import type { Answer } from './answer.ts';
import type { TrackerRequest } from './route.ts';
import { apiVersionOf } from './route.ts';

const GZIP_BYTES_MIN = 1024;

/** True when the answer will leave compressed: then its ETag is a weak one. */
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
export function withValidator(request: TrackerRequest, answer: Answer): Answer {
  if (request.method !== 'GET' || answer.status !== 200 || request.path === '/rate_limit')
    return answer;
  const etag = etagOf(request, answer);
  const headers: Record<string, string> = {
    ...answer.headers,
    etag,
    'cache-control': 'private, max-age=60, s-maxage=60',
    vary: 'Accept, Authorization, Cookie, X-GitHub-OTP,Accept-Encoding, Accept, X-Requested-With',
  };
  if (!isKnown(request.headers['if-none-match'], etag)) return { ...answer, headers };
  return { status: 304, headers };
}

function etagOf(request: TrackerRequest, answer: Answer): string {
  const { accept, authorization, cookie } = request.headers;
  const covered = [accept, authorization, cookie].join('');
  const digest = answer.made?.digests.get(covered) ?? digestOf(covered, answer.body);
  answer.made?.digests.set(covered, digest);
  return isCompressed(request, answer.body) ? `W/"${digest}"` : `"${digest}"`;
}

function digestOf(covered: string, body: Buffer = Buffer.alloc(0)): string {
  return createHash('sha256').update(`${covered}:`).update(body).digest('hex');
}

function isKnown(header: string | undefined, etag: string): boolean {
  const strong = etag.replace(/^W\//, '');
  return (header ?? '').split(',').some((tag) => tag.trim().replace(/^W\//, '') === strong);
}

/** What every answer carries. */
export function commonHeaders(request: TrackerRequest): Record<string, string> {
  return {
    server: 'github.com',
    'x-github-request-id': newUuid().replaceAll('-', '').slice(0, 16).toUpperCase(),
    'x-github-media-type': 'github.v3; format=json',
    'x-github-api-version-selected': apiVersionOf(request),
  };
}
