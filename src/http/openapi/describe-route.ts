import { z } from 'zod';
import { type ErrorCode, errorCodes } from '#shared/errors.ts';
import { PROBLEM_MEDIA_TYPE, problemKinds } from '../problems/problem.ts';
import { problemOut } from '../problems/problem-out.ts';

/** Ways to authenticate, as openapi.json names them. */
type SecurityScheme =
  | 'ApiKey'
  | 'Bearer'
  | 'PartnerSignature'
  | 'VendorSignature'
  | 'WebhookSignature'
  | 'TrackerSignature';

type RequestSchemas = {
  params?: z.ZodType;
  querystring?: z.ZodType;
  headers?: z.ZodType;
  body?: z.ZodType;
};

/** Without a schema the response has no body (204). `mediaTypes` are by default JSON alone. */
type Success = { description: string; schema?: z.ZodType; mediaTypes?: readonly string[] };

type Description<R extends RequestSchemas, S extends Record<number, Success>> = {
  tag: string;
  operationId: string;
  summary: string;
  description?: string;
  /** Omitted: no credential is needed. Of several, one will do. Scopes are listed in the description. */
  security?: SecurityScheme | readonly SecurityScheme[];
  request?: R;
  /** What a raw body holds, for openapi.json alone: it is read once its signature was checked. */
  signedBody?: z.ZodType;
  /** Successful responses by status. */
  ok: S;
  /** The route honours `If-None-Match`. */
  notModified?: boolean;
  /** Names of the response headers by status, explained in `parts.ts`. */
  responseHeaders?: Readonly<Record<number, readonly string[]>>;
  /** The codes that this route can respond with, beside those that every route can. */
  problems: readonly ErrorCode[];
  /** Ignore query parameters that are not named instead of refusing them. */
  freeQuery?: boolean;
  /** Bytes; default 1 MiB. */
  bodyLimit?: number;
  /** Successes are logged at `debug`, as those of reads are. */
  isRoutine?: boolean;
};

type Responses<S extends Record<number, Success>> = {
  [K in keyof S]: S[K] extends { schema: z.ZodType } ? S[K]['schema'] : never;
};

/** The options of a route: schemas for validation and rendering, and all that openapi.json says. */
export function describeRoute<
  const R extends RequestSchemas,
  const S extends Record<number, Success>,
>(given: Description<R, S>) {
  return {
    bodyLimit: given.bodyLimit,
    config: {
      freeQuery: given.freeQuery,
      isRoutine: given.isRoutine,
      signedBody: given.signedBody !== undefined,
      responseHeaders: given.responseHeaders,
      problems: given.problems,
    },
    schema: {
      tags: [given.tag],
      operationId: given.operationId,
      summary: given.summary,
      description: given.description,
      security: [given.security ?? []].flat().map((scheme) => ({ [scheme]: [] })),
      ...(given.signedBody && { body: given.signedBody }),
      ...(given.request as R),
      response: {
        ...successResponses(given.ok),
        ...(given.notModified === true && { 304: empty('Not modified.') }),
        ...problemResponses(given.problems),
      } as unknown as Responses<S>,
    },
  };
}

/** The same response headers on several statuses, for `responseHeaders`. */
export function headersOn(
  statuses: readonly number[],
  names: readonly string[],
): Readonly<Record<number, readonly string[]>> {
  return Object.fromEntries(statuses.map((status) => [status, names]));
}

const JSON_TYPE = 'application/json';

function successResponses(ok: Record<number, Success>) {
  return Object.fromEntries(
    Object.entries(ok).map(([status, { description, schema, mediaTypes = [JSON_TYPE] }]) => [
      status,
      schema
        ? { description, content: Object.fromEntries(mediaTypes.map((type) => [type, { schema }])) }
        : empty(description),
    ]),
  );
}

/** The document shows no content where the schema is `null`. */
function empty(description: string): z.ZodType {
  return z.null().describe(description);
}

/** What a request whose method allows a body can be refused for, also where no body is wanted. */
export const bodyProblems = [
  'malformed-json',
  'payload-too-large',
  'unsupported-media-type',
] as const satisfies readonly ErrorCode[];

/** What a request with a bearer token can be refused for, whatever it is about. */
export const bearerProblems = [
  'validation-failed',
  'unauthorized',
  'insufficient-scope',
  'quota-exceeded',
  'identity-provider-unavailable',
  'store-unavailable',
] as const satisfies readonly ErrorCode[];

/** Problems that any route can respond with. */
export const commonProblems: readonly ErrorCode[] = [
  'bad-request',
  'method-not-allowed',
  'request-timeout',
  'uri-too-long',
  'headers-too-large',
  'internal-error',
  'overloaded',
];

function problemResponses(codes: readonly ErrorCode[]) {
  const all = new Set([...codes, ...commonProblems]);
  const byStatus = Map.groupBy(
    errorCodes.filter((code) => all.has(code)),
    (code) => problemKinds[code].status,
  );
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [
      status,
      {
        description: group.map((code) => `\`${code}\`: ${problemKinds[code].title}.`).join(' '),
        content: { [PROBLEM_MEDIA_TYPE]: { schema: problemOut } },
      },
    ]),
  );
}
