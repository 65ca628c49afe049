import type { FastifyRequest } from 'fastify';
import { TrackportError } from '#shared/errors.ts';

/** Every value that a header came with, in order: Node itself would join or drop repeated ones. */
export function headerValues(request: FastifyRequest, name: string): string[] {
  const { rawHeaders } = request.raw;
  const wanted = name.toLowerCase();
  return rawHeaders.filter(
    (_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === wanted,
  );
}

/**
 * A signed call must be called JSON even when it has no body. Charset and encoding are looked at for
 * every call (`json-body.ts`). @throws {unsupported-media-type}
 */
export function requireJson(request: FastifyRequest): void {
  const type = request.headers['content-type'] ?? '';
  if (/^application\/json\s*(?:;|$)/i.test(type.trim())) return;
  throw notJson();
}

export function notJson(): TrackportError {
  return new TrackportError('unsupported-media-type', {
    detail: 'Send the body as `Content-Type: application/json`.',
  });
}

/** One and the same for every call that cannot be verified, whatever the reason. */
export function unverified(): TrackportError {
  return new TrackportError('unauthorized', {
    detail: 'The signature of this call could not be verified.',
    challenge: 'Signature',
  });
}
