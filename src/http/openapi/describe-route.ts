import type { z } from 'zod';
import type { Scope } from '#access/tokens.ts';
import type { ErrorCode } from '#shared/errors.ts';

/** Ways to authenticate, as openapi.json names them. */
export type SecurityScheme =
  | 'ApiKey'
  | 'Bearer'
  | 'PartnerSignature'
  | 'VendorSignature'
  | 'WebhookSignature'
  | 'TrackerSignature';

/**
 * Without a schema the response has no body (204). `mediaTypes` are by default JSON alone; what comes as one of
 * `others` has a schema of its own.
 */
type Success = {
  description: string;
  schema?: z.ZodType;
  mediaTypes?: readonly string[];
  others?: Readonly<Record<string, z.ZodType>>;
};

/** A route in openapi.json, but for its schemas. */
export type RouteDescription = {
  tag: string;
  operationId: string;
  summary: string;
  description?: string;
  /** The scope that a bearer token must have. */
  scope?: Scope;
  /** Of several, one will do. Default: with a scope a bearer token, else no credential is needed. */
  security?: SecurityScheme | readonly SecurityScheme[];
  /** Content of a raw body, which is read once its signature was checked. */
  signedBody?: z.ZodType;
  /** Successful responses by status. */
  ok: Readonly<Record<number, Success>>;
  /** The route honours `If-None-Match`. */
  notModified?: boolean;
  /** Names of the headers of successful responses, explained in `build-document.ts`, beside those of all. */
  headers?: readonly string[];
  /** The same of problems, each with its statuses. */
  problemHeaders?: Readonly<Record<string, readonly number[]>>;
  /** The codes of this route, beside those that its method and credential bring along. */
  problems: readonly ErrorCode[];
};

type RequestSchemas = {
  params?: z.ZodType;
  querystring?: z.ZodType;
  headers?: z.ZodType;
  body?: z.ZodType;
};

type Route<R extends RequestSchemas> = RouteDescription & {
  request?: R;
  /** Ignore query parameters that are not named instead of refusing them. */
  freeQuery?: boolean;
  /** Bytes; default 1 MiB. */
  bodyLimit?: number;
  /** Headers of every success, in the spelling of openapi.json. Names in `headers` are those of others. */
  sends?: Readonly<Record<string, string>>;
  /** Successes are logged at `debug`, as those of reads are. */
  isRoutine?: boolean;
};

type Responses<S extends Readonly<Record<number, Success>>> = {
  [K in keyof S]: S[K] extends { schema: z.ZodType } ? S[K]['schema'] : never;
};

/** The options of a route: its schemas, and all that openapi.json says. */
export function describeRoute<const R extends RequestSchemas, const S extends Route<R>['ok']>({
  request,
  freeQuery,
  bodyLimit,
  isRoutine,
  sends = {},
  headers = [],
  ...rest
}: Route<R> & { ok: S }) {
  const described: RouteDescription = { ...rest, headers: [...Object.keys(sends), ...headers] };
  const bodies = Object.entries(described.ok).filter(([, { schema }]) => schema);
  return {
    bodyLimit,
    config: { freeQuery, isRoutine, sends, described },
    schema: {
      ...(request as R),
      response: Object.fromEntries(
        bodies.map(([status, { schema }]) => [status, schema]),
      ) as Responses<S>,
    },
  };
}

/** Headers of every response to the holder of a key. */
export const keyHeaders = ['RateLimit-Policy', 'RateLimit', 'Key-Expires'] as const;
