import type { FastifyRequest } from 'fastify';
import { TrackportError } from '#shared/errors.ts';

/**
 * The request must be called JSON even when it has no body; its charset and encoding are the concern
 * of `mediaTypeProblem`. @throws {unsupported-media-type}
 */
export function requireJson({ headers }: Pick<FastifyRequest, 'headers'>): void {
  const type = headers['content-type'] ?? '';
  if (!/^application\/json\s*(?:;|$)/i.test(type.trim())) throw notJson();
}

/** The 415 of a body that is not called JSON. */
export function notJson(): TrackportError {
  return unsupported('Send the body as `Content-Type: application/json`.');
}

/** The 415 of a compressed body, or one of another charset than UTF-8; null when neither is so. */
export function mediaTypeProblem({
  headers,
}: Pick<FastifyRequest, 'headers'>): TrackportError | null {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = headers;
  if (encoding.trim().toLowerCase() !== 'identity')
    return unsupported('Send the body without a `Content-Encoding`.');
  const charset = type === '' ? undefined : /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(type)?.[1];
  if (charset !== undefined && charset.toLowerCase() !== 'utf-8')
    return unsupported('Send the body in UTF-8.');
  return null;
}

function unsupported(detail: string): TrackportError {
  return new TrackportError('unsupported-media-type', { detail });
}
