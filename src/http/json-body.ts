import type { FastifyRequest, preParsingHookHandler } from 'fastify';
import type * as z from 'zod';
import { refuse, TrackportError } from '#shared/errors.ts';
import { parseJsonText, type JsonRules } from '#shared/json.ts';
import type { HttpApp } from './http-app.ts';

/** Bodies are `application/json` in UTF-8, not compressed, and parsed by our own strict rules. */
export function acceptJson(app: HttpApp): void {
  app.removeAllContentTypeParsers();
  app.addHook('preParsing', checkMediaType);
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    readJson(request, { bytes: body as Buffer }, done);
  });
}

type Done = (error: Error | null, body?: unknown) => void;

/**
 * Parses the body for a content type parser. Some clients announce JSON with every call, so that an
 * empty body is none where none is needed; and what nobody would look at is refused.
 */
export function readJson(
  request: FastifyRequest,
  { bytes, rules }: { bytes: Buffer; rules?: JsonRules },
  done: Done,
): void {
  const schema = request.routeOptions.schema?.body as z.ZodType | undefined;
  try {
    if (bytes.length === 0 && (!schema || schema.safeParse(undefined).success)) done(null);
    else done(null, taken(schema, parseJsonText(bytes, rules)));
  } catch (error) {
    done(error as Error);
  }
}

function taken(schema: z.ZodType | undefined, body: unknown): unknown {
  if (schema || JSON.stringify(body) === '{}') return body;
  const detail = 'This call takes no body: what it needs stands in its address.';
  return refuse([{ pointer: '#', code: 'unknown', detail }]);
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

/** Compressed bodies and other charsets are refused before a byte of the body is read. */
const checkMediaType: preParsingHookHandler = (request, _reply, payload, done) => {
  const { 'content-type': type, 'content-encoding': encoding } = request.headers;
  if (type === undefined && encoding === undefined) done(null, payload);
  else done(mediaTypeProblem(type, encoding), payload);
};

function mediaTypeProblem(type = '', encoding = 'identity'): TrackportError | null {
  if (encoding.trim().toLowerCase() !== 'identity')
    return badMediaType('Send the body without a `Content-Encoding`.');
  const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(type)?.[1];
  if (charset !== undefined && charset.toLowerCase() !== 'utf-8')
    return badMediaType('Send the body in UTF-8.');
  return null;
}

function badMediaType(detail: string): TrackportError {
  return new TrackportError('unsupported-media-type', { detail });
}
