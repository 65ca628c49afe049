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
 * A body must be called JSON in UTF-8 and be sent as it is: a proxy that changed it would break its
 * signature anyway. @throws {unsupported-media-type}
 */
export function requireJson(request: FastifyRequest): void {
  const type = request.headers['content-type'] ?? '';
  if (!/^application\/json\s*(?:;|$)/i.test(type.trim()))
    refuseMediaType('Send the body as `Content-Type: application/json`.');
  const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(type)?.[1] ?? 'utf-8';
  if (charset.toLowerCase() !== 'utf-8') refuseMediaType('Send the body in UTF-8.');
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding.trim().toLowerCase() !== 'identity')
    refuseMediaType('Send the body without a `Content-Encoding`.');
}

function refuseMediaType(detail: string): never {
  throw new TrackportError('unsupported-media-type', { detail });
}

/** One and the same for every call that cannot be verified, whatever the reason. */
export function unverified(): TrackportError {
  return new TrackportError('unauthorized', {
    detail: 'The signature of this call could not be verified.',
    challenge: 'Signature',
  });
}
