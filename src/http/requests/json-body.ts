import type { FastifyRequest, preParsingHookHandler, RouteOptions } from 'fastify';
import type { z } from 'zod';
import type { Readable } from 'node:stream';
import type { TrackportError } from '#shared/errors.ts';
import type { JsonRules } from '#shared/text/json.ts';
import { type HttpApp, hangUpOf } from '../context.ts';
import {
  collectBytes,
  declaredBytes,
  isBodiless,
  isBodilessRoute,
  type ReadBody,
  tooLarge,
} from './read-body.ts';
import { mediaTypeProblem, notJson } from './headers.ts';

/** Members and elements of a body: many times what any of our routes can use. */
const VALUES_MAX = 10_000;

/** `parseJsonText`, wherever it runs. */
export type ParseJson = (bytes: Buffer, rules: JsonRules, signal?: AbortSignal) => unknown;

type Readers = { read: ReadBody; parse: ParseJson };

/** Bodies are `application/json` in UTF-8, not compressed, and parsed by our own strict rules. */
export function acceptJson(app: HttpApp, { read, parse }: Readers): void {
  takeBodies(app, { types: ['application/json'], read }, (request, bytes) =>
    toBody(request, bytes, () => parse(bytes, { valuesMax: VALUES_MAX }, hangUpOf(request))),
  );
}

/** Returns the body, or a promise of it. */
type Parse = (request: FastifyRequest, bytes: Buffer) => unknown;

/** In this scope, and below it, bodies of these types are read and parsed, and no others. */
export function takeBodies(
  app: HttpApp,
  { types, read }: { types: string[] | RegExp; read: ReadBody },
  parse: Parse,
): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(types, async (request: FastifyRequest, payload: Readable) =>
    parse(request, await read(request, payload)),
  );
  app.addContentTypeParser('*', takeNothing);
}

/**
 * An empty body is none, whatever it is called and also when it comes in chunks. Of any other the
 * first byte is too much.
 */
async function takeNothing(request: FastifyRequest, payload: Readable): Promise<undefined> {
  if ((declaredBytes(request) ?? 0) > 0) throw notJson();
  await collectBytes(payload, 0, () => notJson());
}

/**
 * The parsed body of a request. Some clients announce JSON with every request, so that an empty body is
 * none where none is needed.
 */
export async function toBody(
  request: FastifyRequest,
  bytes: Buffer,
  parse: () => unknown,
): Promise<unknown> {
  const schema = request.routeOptions.schema?.body as z.ZodType | undefined;
  const isNone = bytes.length === 0 && (!schema || schema.safeParse(undefined).success);
  return isNone ? undefined : parse();
}

/**
 * In this scope, and below it, `request.body` is the untouched bytes: what a signature covers.
 * A request without a body has an empty buffer.
 */
export function acceptRawJson(
  app: HttpApp,
  read: ReadBody,
  types: string[] | RegExp = ['application/json'],
): void {
  takeBodies(app, { types, read }, (_request, bytes) => bytes);
}

/** The bytes of a request in a scope of `acceptRawJson`. */
export function rawBodyOf(request: FastifyRequest): Buffer {
  return Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
}

/**
 * Compressed bodies, other charsets and what is said to be too large are refused before a byte of the
 * body is read, and before the route's own `preParsing`. A body of a GET means nothing (RFC 9110
 * section 9.3.1), is never looked at, and costs no hook.
 */
export function checkBodies(route: RouteOptions): void {
  if (isBodilessRoute(route)) return;
  route.preParsing = [checkBeforeReading, ...[route.preParsing ?? []].flat()];
}

const checkBeforeReading: preParsingHookHandler = (request, _reply, payload, done) => {
  done(isBodiless(request.method) ? null : unreadProblem(request), payload);
};

function unreadProblem(request: FastifyRequest): TrackportError | null {
  const problem = mediaTypeProblem(request);
  if (problem) return problem;
  const { bodyLimit } = request.routeOptions;
  return (declaredBytes(request) ?? 0) > bodyLimit ? tooLarge() : null;
}
