import type { FastifyRequest } from 'fastify';
import { TrackportError } from '#shared/errors.ts';
import { parseJsonText } from '#shared/json.ts';
import type { HttpApp } from './http-app.ts';

/** Bodies are `application/json` in UTF-8, not compressed, and parsed by our own strict rules. */
export function acceptJson(app: HttpApp): void {
  app.removeAllContentTypeParsers();
  app.addHook('preParsing', checkMediaType);
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      done(null, parseJsonText(body as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });
}

/**
 * In this scope, and below it, `request.body` is the untouched bytes: what a signature covers.
 * A request without a body has an empty buffer.
 */
export function acceptRawJson(app: HttpApp): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body);
  });
}

/** The bytes of a request in a scope of `acceptRawJson`. */
export function rawBodyOf(request: FastifyRequest): Buffer {
  return Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
}

async function checkMediaType(request: FastifyRequest): Promise<void> {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity')
    refuseMediaType('Send the body without a `Content-Encoding`.');
  const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(
    request.headers['content-type'] ?? '',
  )?.[1];
  if (charset !== undefined && charset.toLowerCase() !== 'utf-8')
    refuseMediaType('Send the body in UTF-8.');
}

function refuseMediaType(detail: string): never {
  throw new TrackportError('unsupported-media-type', { detail });
}
